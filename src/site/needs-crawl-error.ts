/** Changes can't be followed one by one: there is no room between neighbours, or a folder is another one. */
export class NeedsCrawlError extends Error {
  override readonly name = 'NeedsCrawlError';
}

/** Thrown when changes can't be applied one by one, because no position is free or a source's folder was replaced. */
export class RescanRequiredError extends Error {
  override readonly name = 'NeedsCrawlError';
}

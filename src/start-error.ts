/** Why the server could not start, in one line for the person who started it. No stack is of use to them. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

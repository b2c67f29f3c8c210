/** Thrown when a file has more records than there are free positions before the next file. */
export class PositionsExhaustedError extends Error {
  override readonly name = 'NoRoomError';
}

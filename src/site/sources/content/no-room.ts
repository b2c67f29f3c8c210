/** The records of a file do not fit between its neighbours any more. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError';
}

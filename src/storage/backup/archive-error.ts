/** A backup can't be made, read or restored, for a reason that a person can mend. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

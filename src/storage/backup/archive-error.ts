/** A failure to create, read or restore a backup that an operator can fix. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

/** Returns the lookup key of a username. Names that differ only in case have the same key. */
export function toUsernameKey(username: string): string {
  return username.normalize('NFC').toLowerCase();
}

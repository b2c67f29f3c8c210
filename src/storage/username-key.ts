/** Under which a person is found: names that differ in case alone are one name. */
export function toUsernameKey(username: string): string {
  return username.normalize('NFC').toLowerCase();
}

/** As many characters as a call takes arguments without harm. */
const CHUNK = 0x8000;

/** With padding; browsers of today can't all do so by themselves. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(text);
}

/** Engines limit the number of arguments of a call, so that bytes are converted in chunks. */
const CHUNK = 0x8000;

/** Encodes bytes as base64 with padding, as `Uint8Array.prototype.toBase64` is missing in some browsers. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  }
  return btoa(text);
}

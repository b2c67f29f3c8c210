import { hash } from 'node:crypto';

/** The root namespace, which makes the ids equal to Gatsby's. */
const SEED = '638f7a53-c567-4eca-8fc1-b23efb1cfb2b';

/** Returns a function that derives the ids of a plugin's records. The same text has the same id on every machine. */
export function createIdGenerator(plugin: string): (text: string) => string {
  return uuidsOf(uuidsOf(SEED)(plugin));
}

/** The size of the shared buffer, which fits the longest path. Longer texts get a buffer of their own. */
const ROOM_BYTES = 16 * 1024;

/** Returns a function that derives the ids of a namespace. It reuses a buffer that starts with the namespace. */
function uuidsOf(namespace: string): (text: string) => string {
  const start = toBytes(namespace);
  const room = Buffer.alloc(ROOM_BYTES);
  start.copy(room);
  const mostUnits = (ROOM_BYTES - start.length) / 3;
  return (text) =>
    text.length > mostUnits
      ? uuidV5(Buffer.concat([start, Buffer.from(text)]))
      : uuidV5(room.subarray(0, start.length + room.write(text, start.length)));
}

/** Formats a UUID version 5 (RFC 9562): the first 16 bytes of a SHA-1 with six bits for version and variant. */
function uuidV5(named: Buffer): string {
  const hex = hash('sha1', named, 'hex');
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function toBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

import { hash } from 'node:crypto';

/** The namespace of all namespaces; ids are the same as those of the original because of it. */
const SEED = '638f7a53-c567-4eca-8fc1-b23efb1cfb2b';

/** Gives the ids of the records that one plugin makes: the same text, the same id, on every machine. */
export function idsOf(plugin: string): (text: string) => string {
  return uuidsOf(uuidsOf(SEED)(plugin));
}

/** Texts that are longer get a buffer of their own; the longest path fits. */
const ROOM_BYTES = 16 * 1024;

/** Gives the ids of a namespace, which stands once in a buffer that every text is put in behind it. */
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

/** RFC 9562, version 5: the first 16 bytes of a SHA-1, six bits of them taken by version and variant. */
function uuidV5(named: Buffer): string {
  const hex = hash('sha1', named, 'hex');
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function toBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

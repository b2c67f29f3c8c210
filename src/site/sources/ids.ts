import { hash } from 'node:crypto';

/** The namespace of all namespaces; ids are the same as those of the original because of it. */
const SEED = '638f7a53-c567-4eca-8fc1-b23efb1cfb2b';

/** Gives the ids of the records that one plugin makes: the same text, the same id, on every machine. */
export function idsOf(plugin: string): (text: string) => string {
  const namespace = toBytes(uuidV5(plugin, toBytes(SEED)));
  return (text) => uuidV5(text, namespace);
}

/** RFC 9562, version 5: the first 16 bytes of a SHA-1, six bits of them taken by version and variant. */
function uuidV5(text: string, namespace: Buffer): string {
  const hex = hash('sha1', Buffer.concat([namespace, Buffer.from(text)]), 'hex');
  const variant = ((parseInt(hex.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function toBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

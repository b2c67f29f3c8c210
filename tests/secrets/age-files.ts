import { hash } from 'node:crypto';
import { bech32 } from '@scure/base';

/** Test files with a valid age header. They cannot be decrypted, which the server never tries. */

const base64 = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64').replace(/=+$/, '');

/** A nonce and the tag of an empty chunk. */
const PAYLOAD_BYTES = 32;

const STANZA = `-> X25519 ${base64(32)}\n${base64(32)}\n`;

/** Returns a complete header with the given stanzas. */
export function ageHeader(stanzas: string): string {
  return `age-encryption.org/v1\n${stanzas}--- ${base64(32)}\n`;
}

/** Returns a sealed value in base64. @param payload Distinguishes values. */
export function ageValue({ recipients = 1, payload = 'payload' } = {}): string {
  return Buffer.from(ageHeader(STANZA.repeat(recipients)) + payload.padStart(PAYLOAD_BYTES, '.')).toString('base64');
}

/** Returns a valid public key, the same one for each name. No one has its identity. */
export const ageKey = (name: string): string => bech32.encodeFromBytes('age', hash('sha256', name, 'buffer'));

/** Files with the header of age, which nobody could open: the server never tries to. */

const base64 = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64').replace(/=+$/, '');

const STANZA = `-> X25519 ${base64(32)}\n${base64(32)}\n`;

/** A whole header, stanzas and all. */
export function ageHeader(stanzas: string): string {
  return `age-encryption.org/v1\n${stanzas}--- ${base64(32)}\n`;
}

/** A value as it travels. @param payload What makes it differ from others. */
export function ageValue({ recipients = 1, payload = 'payload' } = {}): string {
  return Buffer.from(ageHeader(STANZA.repeat(recipients)) + payload).toString('base64');
}

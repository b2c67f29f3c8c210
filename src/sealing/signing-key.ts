/** Signing keys of writers: Ed25519 keys in the files of OpenSSH. */
import { ed25519 } from './ed25519.js';
import { SealingError } from './sealing-error.js';
import { createFieldReader, formatArmor, joinBytes, readArmor, toBase64, toField, toUint32 } from './ssh-signature.js';
import type { Signer } from './value-statement.js';

const LABEL = 'OPENSSH PRIVATE KEY';
const MAGIC = 'openssh-key-v1\0';
const NO_CIPHER = 'none';
/** Unencrypted keys are padded to a multiple of this number of bytes. */
const BLOCK = 8;

/** Generates a signing key, as an unencrypted file of OpenSSH, which `ssh-keygen` reads too. */
export function generateSigningKey(comment = 'trellis secrets'): string {
  const seed = ed25519.utils.randomSecretKey();
  const publicKey = ed25519.getPublicKey(seed);
  const check = crypto.getRandomValues(new Uint8Array(4));
  const blob = joinBytes(toField('ssh-ed25519'), toField(publicKey));
  const secret = joinBytes(check, check, blob, toField(joinBytes(seed, publicKey)), toField(comment));
  const padding = Uint8Array.from({ length: (BLOCK - (secret.length % BLOCK)) % BLOCK }, (_, index) => index + 1);
  const file = joinBytes(
    ...[MAGIC, toField(NO_CIPHER), toField(NO_CIPHER), toField(''), toUint32(1), toField(blob)],
    toField(joinBytes(secret, padding)),
  );
  return formatArmor(LABEL, file);
}

/**
 * Reads an Ed25519 private key of OpenSSH without a passphrase.
 *
 * @throws SealingError `invalid_key` for anything else. The message never quotes the text.
 */
export function parseSigningKey(text: string): Signer {
  try {
    const reader = readArmor(LABEL, text);
    if (reader === undefined) throw invalidKey('received something else');
    const magic = new TextDecoder().decode(reader.take(MAGIC.length));
    const cipher = reader.readText();
    if (magic === MAGIC && cipher !== NO_CIPHER) throw invalidKey('received one with a passphrase');
    reader.readField();
    reader.readField();
    const isSingle = reader.readUint32() === 1;
    reader.readField();
    const secret = createFieldReader(reader.readField());
    const isIntact = secret.readUint32() === secret.readUint32();
    if (secret.readText() !== 'ssh-ed25519') throw invalidKey('received a different kind');
    const [publicKey, pair] = [secret.readField(), secret.readField()];
    const seed = pair.slice(0, 32);
    const isPair = toBase64(pair) === toBase64(joinBytes(seed, publicKey));
    const isOwn = toBase64(ed25519.getPublicKey(seed)) === toBase64(publicKey);
    if (magic !== MAGIC || !isSingle || !isIntact || !isPair || !isOwn) throw invalidKey('received a damaged one');
    return { publicKey, sign: (bytes) => ed25519.sign(bytes, seed) };
  } catch (error) {
    throw error instanceof SealingError ? error : invalidKey('received a damaged one');
  }
}

function invalidKey(reason: string): SealingError {
  return new SealingError('invalid_key', `Expected an Ed25519 private key of OpenSSH without a passphrase; ${reason}.`);
}

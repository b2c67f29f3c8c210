/** The public module `trellis/secrets`: the client of the secrets service, and functions that seal and open values. */
export type { ClientOptions, PageQuery, SecretsClient, components } from '../generated/secrets/client.js';
export { ApiError, createSecretsClient, decodeError, readAll, readAllAfter } from '../generated/secrets/client.js';
/** Generates an X25519 identity; `toRecipients` returns its public key. */
export { generateIdentity } from 'age-encryption';
export { open, toRecipients } from './seal.js';
export type { NewSecret, SecretReplacement, SecretValue } from './put-secret.js';
export { putSecret, replaceSecret } from './put-secret.js';
export type { RecipientSelection } from './put-secret.js';
export type { CheckKeys, KeyChange, KnownKeys, PartyKey } from './known-keys.js';
export { NO_KNOWN_KEYS, addKnownKeys, findKeyChanges, keyChangedError } from './known-keys.js';
export type { Passphrase } from './seal.js';
export { MAX_SEALED_BYTES, seal } from './seal.js';
export type { SealingCode } from './sealing-error.js';
export { SealingError } from './sealing-error.js';
export { toFingerprint } from './ssh-signature.js';
export type { CheckedValue, LatestValue, ReceivedValue, SignedValue, WriterTrust } from './authentic-values.js';
export {
  addWriter,
  checkValue,
  describeSigner,
  listWriters,
  readSignatureHeader,
  signValue,
} from './authentic-values.js';
/** Generates and reads the keys with which writers sign values; `ssh-keygen` reads and writes the same files. */
export { generateSigningKey, parseSigningKey } from './signing-key.js';
export type { Signer, ValueStatement } from './value-statement.js';

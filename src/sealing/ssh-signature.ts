/**
 * Signatures in the format of OpenSSH (PROTOCOL.sshsig) with Ed25519, as `ssh-keygen -Y sign` makes them. Keys and
 * signatures of other kinds are rejected.
 */

const KEY_TYPE = 'ssh-ed25519';
const MAGIC = 'SSHSIG';
/** Signatures of this purpose are not valid for a different one, such as commits of git. */
const SIGNATURE_NAMESPACE = 'trellis-secret-value';

/** The length of an Ed25519 public key, and of each half of a signature. */
const KEY_BYTES = 32;

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Joins parts of the wire format; texts have no length, see {@link toField}. */
export function joinBytes(...parts: readonly (Uint8Array | string)[]): Uint8Array<ArrayBuffer> {
  const all = parts.map((part) => (typeof part === 'string' ? encode(part) : part));
  const joined = new Uint8Array(all.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of all) {
    joined.set(part, end);
    end += part.length;
  }
  return joined;
}

export function toUint32(number: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

/** Returns a `string` of the wire format (RFC 4251, section 5): the length in 4 bytes, and the bytes. */
export function toField(content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? encode(content) : content;
  return joinBytes(toUint32(bytes.length), bytes);
}

/** Reads the wire format from the start. Every method throws a RangeError at the end of the bytes. */
export function createFieldReader(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw new RangeError('too short');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const readUint32 = (): number => {
    const number = view.getUint32(at);
    at += 4;
    return number;
  };
  const readField = (): Uint8Array => take(readUint32());
  return {
    take,
    readUint32,
    readField,
    readText: (): string => new TextDecoder().decode(readField()),
    isAtEnd: (): boolean => at === bytes.length,
  };
}

type FieldReader = ReturnType<typeof createFieldReader>;

const toPublicBlob = (key: Uint8Array): Uint8Array => joinBytes(toField(KEY_TYPE), toField(key));

/** @throws Error for a different kind of key. */
function readPublicBlob(blob: Uint8Array): Uint8Array {
  const reader = createFieldReader(blob);
  const type = reader.readText();
  const key = reader.readField();
  if (type === KEY_TYPE && key.length === KEY_BYTES && reader.isAtEnd()) return key;
  throw new Error('not Ed25519');
}

/** Encodes bytes as base64 with padding, as `Uint8Array.prototype.toBase64` is missing in some browsers. */
export const toBase64 = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Returns the line of a public key, without a comment: `ssh-ed25519 AAAA…`. */
export const formatSignerKey = (key: Uint8Array): string => `${KEY_TYPE} ${toBase64(toPublicBlob(key))}`;

/** Returns the 32 bytes of a public key, whose line may have a comment; `undefined` for anything else. */
export function parseSignerKey(line: string): Uint8Array | undefined {
  const [, base64] = /^ssh-ed25519 ([A-Za-z0-9+/]{68})(?:\s.*)?$/.exec(line.trim()) ?? [];
  if (base64 === undefined) return undefined;
  try {
    return readPublicBlob(fromBase64(base64));
  } catch {
    return undefined;
  }
}

/** Returns the fingerprint of a public key of a writer, as `ssh-keygen -l` prints it. */
export const toSignerFingerprint = (publicKey: Uint8Array): Promise<string> => toFingerprint(toPublicBlob(publicKey));

/**
 * Returns the fingerprint of a public key: `SHA256:` and the digest of its text or bytes in base64 without padding, the
 * form that OpenSSH prints.
 */
export async function toFingerprint(publicKey: Uint8Array | string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', joinBytes(publicKey));
  return `SHA256:${toBase64(new Uint8Array(digest)).replace(/=+$/, '')}`;
}

/** Returns the bytes that a signature of a message signs with Ed25519. */
export async function toSignedBytes(message: string): Promise<Uint8Array<ArrayBuffer>> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-512', joinBytes(message)));
  return joinBytes(MAGIC, toField(SIGNATURE_NAMESPACE), toField(''), toField('sha512'), toField(digest));
}

/** Returns bytes as a text of OpenSSH: base64 in lines between those with the label. */
export const formatArmor = (label: string, content: Uint8Array): string =>
  `-----BEGIN ${label}-----\n${toBase64(content).replace(/.{1,70}/g, '$&\n')}-----END ${label}-----\n`;

/** Reads the bytes in such a text; `undefined` for a different label. @throws Error for invalid base64. */
export function readArmor(label: string, text: string): FieldReader | undefined {
  const [start, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const content = text.trim();
  if (!content.startsWith(start) || !content.endsWith(end)) return undefined;
  return createFieldReader(fromBase64(content.slice(start.length, -end.length).replace(/\s+/g, '')));
}

const LABEL = 'SSH SIGNATURE';

/** Returns the armored signature: that of `ssh-keygen -Y sign`, byte for byte. */
export function formatSignature(publicKey: Uint8Array, signature: Uint8Array): string {
  const blob = joinBytes(
    ...[MAGIC, toUint32(1), toField(toPublicBlob(publicKey)), toField(SIGNATURE_NAMESPACE), toField('')],
    ...[toField('sha512'), toField(joinBytes(toField(KEY_TYPE), toField(signature)))],
  );
  return formatArmor(LABEL, blob);
}

export interface SshSignature {
  /** The 32 bytes of the public key, as the signature names it. It proves nothing about its holder. */
  readonly publicKey: Uint8Array;
  /** The 64 bytes of the Ed25519 signature. */
  readonly signature: Uint8Array;
}

/** Returns the parts of an armored signature; `undefined` for another format, namespace, kind of key or digest. */
export function parseSignature(armored: string): SshSignature | undefined {
  try {
    const reader = readArmor(LABEL, armored);
    if (reader === undefined) return undefined;
    const magic = new TextDecoder().decode(reader.take(MAGIC.length));
    const version = reader.readUint32();
    const publicKey = readPublicBlob(reader.readField());
    const [namespace, reserved, hash] = [reader.readText(), reader.readText(), reader.readText()];
    const own = createFieldReader(reader.readField());
    const [type, signature] = [own.readText(), own.readField()];
    const isKnown = magic === MAGIC && version === 1 && reserved === '' && hash === 'sha512' && type === KEY_TYPE;
    const isWhole = signature.length === 2 * KEY_BYTES && own.isAtEnd() && reader.isAtEnd();
    return isKnown && isWhole && namespace === SIGNATURE_NAMESPACE ? { publicKey, signature } : undefined;
  } catch {
    return undefined;
  }
}

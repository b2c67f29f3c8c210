import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { components } from '../../src/generated/dashboard/types.js';

type Schemas = components['schemas'];

/** Flags of authenticator data: user present, user verified, and attested credential data included. */
const PRESENT = 0x01;
const VERIFIED = 0x04;
const WITH_KEY = 0x40;

/** A software passkey for the host of an origin: ES256, without attestation. Its responses match those of browsers. */
export class Passkey {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(16);
  readonly #origin: string;
  /** Whether it verifies its user by a PIN or biometrics. */
  isVerifying = true;
  #userHandle = '';
  #counter = 0;

  constructor(origin: string) {
    this.#origin = origin;
  }

  get id(): string {
    return this.#id.toString('base64url');
  }

  /** Returns the result of `navigator.credentials.create()`. */
  create({ challenge, user }: Schemas['CreationOptions']) {
    this.#userHandle = user.id;
    const data = this.#authenticatorData(PRESENT | WITH_KEY, this.#attestedKey());
    const attestation = Buffer.concat([cborMap(3), cborText('fmt'), cborText('none'), cborText('attStmt'), cborMap(0)]);
    const response = {
      clientDataJSON: this.#clientData('webauthn.create', challenge).toString('base64url'),
      attestationObject: Buffer.concat([attestation, cborText('authData'), cborBytes(data)]).toString('base64url'),
      transports: ['internal'],
    };
    return { ...this.#credential(), response };
  }

  /** Returns the result of `navigator.credentials.get()`, with the next value of the counter unless given. */
  get({ challenge }: Schemas['RequestOptions'], counter = this.#counter + 1) {
    this.#counter = counter;
    const clientData = this.#clientData('webauthn.get', challenge);
    const authenticatorData = this.#authenticatorData(PRESENT);
    const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
    const response = {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      userHandle: this.#userHandle,
    };
    return { ...this.#credential(), response };
  }

  #credential() {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} } as const;
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  #authenticatorData(flags: number, rest: Buffer = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    const host = createHash('sha256').update(new URL(this.#origin).hostname).digest();
    return Buffer.concat([host, Buffer.of(this.isVerifying ? flags | VERIFIED : flags), counter, rest]);
  }

  /** Returns the attested credential data: an empty AAGUID, the credential id and the COSE key. */
  #attestedKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const [isEc, isEs256, onP256] = [
      [0x01, 0x02],
      [0x03, 0x26],
      [0x20, 0x01],
    ];
    const coordinates = [
      [0x21],
      cborBytes(Buffer.from(x, 'base64url')),
      [0x22],
      cborBytes(Buffer.from(y, 'base64url')),
    ];
    const key = [cborMap(5), isEc, isEs256, onP256, ...coordinates].map((part) => Buffer.from(part));
    return Buffer.concat([Buffer.alloc(16), Buffer.of(0, this.#id.length), this.#id, ...key]);
  }
}

const cborMap = (size: number): Buffer => Buffer.of(0xa0 + size);

/** Encodes a text of up to 23 bytes. */
const cborText = (text: string): Buffer => Buffer.concat([Buffer.of(0x60 + text.length), Buffer.from(text)]);

/** Encodes up to 255 bytes. */
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(0x58, bytes.length), bytes]);

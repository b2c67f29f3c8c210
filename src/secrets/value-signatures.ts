/**
 * The signatures that writers add to values. The server trusts no key itself, so it checks only that a signature is
 * one of the stored value: a wrong one is an error of the client, which readers would notice later.
 */
import { createPublicKey, verify } from 'node:crypto';
import { AppError } from '@trellis/core/errors';
import { toSignedBytes, toSignerFingerprint } from '../sealing/ssh-signature.js';
import {
  digestRecipients,
  digestValue,
  parseValueSignature,
  type SignedStatement,
  type ValueStatement,
} from '../sealing/value-statement.js';
import { toKeyFingerprint } from './age-format.js';

/** A signature that its key has made. */
export interface ValueSignature {
  /** The text as it is stored. */
  readonly text: string;
  readonly statement: ValueStatement;
  /** The fingerprint of the key. */
  readonly signer: string;
}

/** @throws AppError `unprocessable` for a different format, or if the key in the signature has not made it. */
export async function readValueSignature(text: string): Promise<ValueSignature> {
  const signed = parseValueSignature(text);
  if (signed === undefined) throw unprocessable('Expected signature to be a statement with its SSH signature.');
  if (!(await isSignedByItsKey(signed))) throw unprocessable('Expected signature to be one of its statement.');
  return { text, statement: signed.statement, signer: await toSignerFingerprint(signed.publicKey) };
}

/** Returns the parts of a stored signature; `undefined` if it was damaged. */
export const findSignedFacts = (text: string): Promise<ValueSignature | undefined> =>
  readValueSignature(text).catch(() => undefined);

async function isSignedByItsKey({ text, publicKey, signature }: SignedStatement): Promise<boolean> {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
  return verify(null, await toSignedBytes(text), createPublicKey({ key: jwk, format: 'jwk' }), signature);
}

interface SignedFacts {
  readonly sealed: Uint8Array;
  readonly recipients: readonly string[];
}

/** @throws AppError `unprocessable` unless the statement is about these bytes and recipients. */
export async function assertSignsValue({ statement }: ValueSignature, facts: SignedFacts): Promise<void> {
  if (statement.digest !== (await digestValue(facts.sealed))) throw unprocessable('The signature is of other bytes.');
  const recipients = await digestRecipients(facts.recipients.map(toKeyFingerprint));
  if (statement.recipientsDigest !== recipients) throw unprocessable('The signature is for other recipients.');
}

/**
 * Asserts that a statement is about the value with this name, id and number.
 *
 * @throws AppError `unprocessable`; `precondition_failed` for a different number, as another request has replaced the value.
 */
export function assertSignsPlace(
  { statement }: ValueSignature,
  { slug, id, version }: Pick<ValueStatement, 'id' | 'slug' | 'version'>,
): void {
  if (statement.slug !== slug) throw unprocessable(`The signature is for the name ${statement.slug}.`);
  if (statement.id !== id) throw unprocessable(`The signature is for the variant ${statement.id}.`);
  if (statement.version === version) return;
  const message = `The signature is for value ${statement.version}, but this is value ${version}; reload the secret.`;
  throw new AppError('precondition_failed', message, { field: 'signature' });
}

const unprocessable = (message: string): AppError => new AppError('unprocessable', message, { field: 'signature' });

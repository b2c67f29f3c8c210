/** Compares the recipients of a value with the current public keys of its consumers and the owner. */

/** The reason why a value should be resealed. */
export interface ResealReason {
  /** `recipients` compares the recorded public keys; `count`, without them, their number in the age header. */
  readonly reason: 'count' | 'recipients';
  /** The consumers whose current public key is not a recipient. */
  readonly missing: readonly string[];
  /** The recorded public keys that no longer belong to a consumer or the owner. */
  readonly stale: readonly string[];
}

interface Sealing {
  readonly consumers: readonly { readonly name: string; readonly publicKey: string | undefined }[];
  readonly ownerKey: string | undefined;
  /** The recorded public keys; may be empty. */
  readonly recipients: readonly string[];
  readonly recipientCount: number;
}

/** Returns the reason to reseal a value; `undefined` when the recorded keys and the age header show none. */
export function findResealReason(sealing: Sealing): ResealReason | undefined {
  return sealing.recipients.length > 0 ? compareKeys(sealing) : compareCount(sealing);
}

function compareKeys({ consumers, ownerKey, recipients }: Sealing): ResealReason | undefined {
  const missing = consumers.filter(({ publicKey }) => publicKey !== undefined && !recipients.includes(publicKey));
  const known = [ownerKey, ...consumers.map(({ publicKey }) => publicKey)];
  // An unknown key may belong to a consumer without a registered key.
  const stale = hasAllKeys(consumers) ? recipients.filter((recipient) => !known.includes(recipient)) : [];
  if (missing.length === 0 && stale.length === 0) return undefined;
  return { reason: 'recipients', missing: missing.map(({ name }) => name), stale };
}

function compareCount({ consumers, recipientCount }: Sealing): ResealReason | undefined {
  const { size } = new Set(consumers.flatMap(({ publicKey }) => publicKey ?? []));
  const isTooFew = recipientCount < size;
  // The additional recipient may be the owner, whose readable copy is optional.
  const isTooMany = size > 0 && hasAllKeys(consumers) && recipientCount > size + 1;
  return isTooFew || isTooMany ? { reason: 'count', missing: [], stale: [] } : undefined;
}

function hasAllKeys(consumers: Sealing['consumers']): boolean {
  return consumers.every(({ publicKey }) => publicKey !== undefined);
}

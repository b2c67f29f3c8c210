/** Whom a value is sealed to, beside whom it should be sealed to. */

/** Why a value should be sealed anew. */
export interface Reseal {
  /** By the recorded public keys, or, where there are none, by their number in the age header alone. */
  readonly reason: 'count' | 'recipients';
  /** Consumers whose present key the value is not sealed to. */
  readonly missing: readonly string[];
  /** Recorded keys that are neither a consumer's any more nor the owner's. */
  readonly stale: readonly string[];
}

interface Sealing {
  readonly consumers: readonly { readonly name: string; readonly publicKey: string | undefined }[];
  readonly ownerKey: string | undefined;
  /** The recorded public keys; empty when the sender told none. */
  readonly recipients: readonly string[];
  readonly recipientCount: number;
}

/** @returns `undefined` when there is no reason to, as far as anybody can tell without opening the value. */
export function findReseal(sealing: Sealing): Reseal | undefined {
  return sealing.recipients.length > 0 ? compareKeys(sealing) : compareCount(sealing);
}

function compareKeys({ consumers, ownerKey, recipients }: Sealing): Reseal | undefined {
  const missing = consumers.filter(({ publicKey }) => publicKey !== undefined && !recipients.includes(publicKey));
  const known = [ownerKey, ...consumers.map(({ publicKey }) => publicKey)];
  // An unknown key may be that of a consumer who has registered none.
  const stale = hasAllKeys(consumers) ? recipients.filter((recipient) => !known.includes(recipient)) : [];
  if (missing.length === 0 && stale.length === 0) return undefined;
  return { reason: 'recipients', missing: missing.map(({ name }) => name), stale };
}

function compareCount({ consumers, recipientCount }: Sealing): Reseal | undefined {
  const { size } = new Set(consumers.flatMap(({ publicKey }) => publicKey ?? []));
  const isTooFew = recipientCount < size;
  // One more may be the owner, who need not be among them.
  const isTooMany = size > 0 && hasAllKeys(consumers) && recipientCount > size + 1;
  return isTooFew || isTooMany ? { reason: 'count', missing: [], stale: [] } : undefined;
}

function hasAllKeys(consumers: Sealing['consumers']): boolean {
  return consumers.every(({ publicKey }) => publicKey !== undefined);
}

import type { Caller } from '../accounts/callers.js';
import { requireOwner } from '../accounts/scopes.js';
import { AppError } from '../errors.js';
import type { Database } from '../storage/database.js';
import type { Origin } from './actor.js';
import { appendAudit, inAuditedTransaction } from './audit-chain.js';
import { findValue } from './object-values.js';
import { requireVariant, requireVariantOf } from './variants.js';
import type { ObjectRef, ObjectRow } from './variants.js';

/** A value as it was stored, and the variant that it is of. */
export interface ReadValue {
  readonly id: string;
  readonly sealed: Uint8Array;
}

export interface ObjectReader {
  read(ref: ObjectRef, origin: Origin): Promise<ReadValue>;
}

export function createObjectReader(database: Database): ObjectReader {
  return {
    read: (ref, origin) =>
      inAuditedTransaction(database, async (transaction) => {
        const { id, slug, version } = await requireReadable(transaction, ref, origin.caller);
        const value = await findValue(transaction, { objectId: id, version });
        if (value === undefined) throw new AppError('not_found', 'unknown object');
        await appendAudit(transaction, { slug, variantId: id, action: 'read' }, origin);
        return { id, sealed: value.sealed };
      }),
  };
}

async function requireReadable(transaction: Database, ref: ObjectRef, caller: Caller | undefined): Promise<ObjectRow> {
  if (caller?.kind === 'consumer_token') return requireVariantOf(transaction, caller.consumer, ref);
  requireOwner(caller);
  return requireVariant(transaction, ref);
}

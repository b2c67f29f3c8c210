import { createAccounts } from '../../src/accounts/accounts.js';
import { serviceTokens } from '../../src/accounts/bearer-tokens.js';
import { sequenceAuditEntries } from '../../src/secrets/audit/sequence.js';
import { createSecretStore } from '../../src/secrets/secret-store.js';
import { createCliServiceTokens } from '../../src/secrets/service-tokens.js';
import type { DatabaseTarget } from '../../src/storage/database.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { ageValue } from '../../tests/secrets/age-files.js';

/** The consumer of half of the secrets. */
export const CONSUMER = 'acme/shop';

/** The size of a value: a certificate with its key, or a password sealed to several recipients. */
const VALUE_BYTES = 1_024;

export interface Seeded {
  /** The number of secrets. */
  readonly secrets: number;
  readonly writeToken: string;
  /** A token of {@link CONSUMER}. */
  readonly consumerToken: string;
  /** The ids of the tokens that are rotated, one for each writer. */
  readonly rotated: readonly string[];
}

/** Creates an owner, tokens, and secrets from `object-0`, every other one for {@link CONSUMER}. */
export async function seedSecrets(
  place: DatabaseTarget,
  { secrets, writers }: { readonly secrets: number; readonly writers: number },
): Promise<Seeded> {
  const database = await openDatabase(place);
  const accounts = createAccounts(database, { origin: () => 'http://localhost' });
  const ada = await accounts.users.add({ username: 'ada', displayName: 'Ada' });
  const caller = await accounts.sessions.findCaller(await accounts.sessions.start(ada.id));
  const objects = createSecretStore(database);
  for (let index = 0; index < secrets; index += 1) {
    const usedBy = [index % 2 === 0 ? CONSUMER : 'other'];
    const value = ageValue({ payload: 'x'.repeat(VALUE_BYTES) });
    await objects.create({ slug: `object-${index}`, value, usedBy }, { caller, ip: '127.0.0.1', at: Date.now() });
  }
  const tokens = createCliServiceTokens(database, { store: serviceTokens });
  const { token: writeToken } = await tokens.create('write', { description: 'bench' });
  const mint = (consumer: string) => tokens.create('consumer', { description: 'bench', consumer });
  const { token: consumerToken } = await mint(CONSUMER);
  const rotated: string[] = [];
  for (let index = 0; index < writers; index += 1) rotated.push((await mint(`rotated-${index}`)).id);
  // The server, which has a key, would reject these entries without signatures.
  await sequenceAuditEntries(database);
  await database.destroy();
  return { secrets, writeToken, consumerToken, rotated };
}

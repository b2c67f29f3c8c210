import { THIS_MACHINE } from '../../accounts/events.js';
import { serviceTokens } from '../../accounts/service-tokens.js';
import { loadConfig } from '../../config.js';
import { mintToken } from '../../secrets/mint-token.js';
import { CommandFailure } from '../../start-error.js';
import type { Database } from '../../storage/database.js';
import { withAccounts } from '../accounts-database.js';
import { EXIT } from './exit-codes.js';
import { toDay } from './print.js';
import type { Terminal } from './terminal.js';
import type { MintWriteFlags } from './tokens.js';

const DAY_SECONDS = 86_400;

/** Makes a write token in the server's own database: whoever holds that needs no session. */
export async function mintWriteToken(
  flags: MintWriteFlags,
  { out, err }: Pick<Terminal, 'err' | 'out'>,
): Promise<void> {
  const { description, days, ...place } = flags;
  const config = await loadConfig({ flags: place });
  await withAccounts(config, async (database) => {
    const parts = { kind: 'write', store: serviceTokens, personId: await findOwner(database) } as const;
    const origin = { caller: 'machine', ip: THIS_MACHINE, at: Date.now() } as const;
    const ttlSeconds = days === undefined ? undefined : days * DAY_SECONDS;
    const { id, token, expiresAt } = await mintToken(database, parts, { description, ttlSeconds, origin });
    err.write(`Write token ${id}, until ${toDay(expiresAt.toISOString())}. It is shown this once:\n`);
    out.write(`${token}\n`);
  });
}

async function findOwner(database: Database): Promise<string> {
  const owner = await database.selectFrom('people').select('id').where('is_admin', '=', 1).executeTakeFirst();
  if (owner !== undefined) return owner.id;
  throw new CommandFailure(
    'expected an owner; the setup link that the server prints makes the first account',
    EXIT.conflict,
  );
}

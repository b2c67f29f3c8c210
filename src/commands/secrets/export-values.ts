import { CommandFailure } from '../../start-error.js';
import { open } from '../../sealing/open.js';
import { EXIT } from './exit-codes.js';
import { defined } from './options.js';
import { readObjects } from './read-objects.js';
import { readSealed, write } from './read-values.js';
import type { Session } from './session.js';
import { writePrivateFile } from './settings-file.js';
import { formatEntries } from './transfer-format.js';
import type { Entry } from './transfer-format.js';
import type { ExportFlags } from './transfer.js';
import { toVariable } from './variables.js';

/** `export`: values stay sealed by default. */
export async function exportValues(session: Session, flags: ExportFlags): Promise<void> {
  const identity = flags.open ? await session.readIdentity() : undefined;
  const entries: Entry[] = [];
  for (const object of await readObjects(session, flags)) {
    const { id, slug, used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, recipients } = object;
    const sealed = await readSealed(session, slug, { id });
    const known = defined({ usedBy, tags, description, rotateAfterDays });
    entries.push(
      identity === undefined
        ? { slug, value: sealed, isSealed: true, ...known, ...defined({ recipients }) }
        : { slug, value: await open(sealed, identity), isSealed: false, ...known },
    );
  }
  if (flags.format === 'dotenv') requireDistinct(entries);
  const text = formatEntries(entries, flags.format);
  if (flags.output === undefined) await write(session.terminal.out, text);
  else await writePrivateFile(flags.output, text);
  session.say(`Exported ${entries.length} ${entries.length === 1 ? 'secret' : 'secrets'}.`);
}

function requireDistinct(entries: readonly Entry[]): void {
  const names = entries.map(({ slug }) => toVariable(slug));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new CommandFailure(`Several secrets would become ${twice} in a .env file. Use --format json`, EXIT.conflict);
}

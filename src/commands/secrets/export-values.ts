import { CommandError } from '../../config/startup-error.js';
import { open } from '../../sealing/seal.js';
import { EXIT } from './exit-codes.js';
import { omitUndefined } from './options.js';
import { fetchSecrets } from './read-secrets.js';
import { fetchSealedValue, writeOutput } from './read-values.js';
import type { CommandContext } from './context.js';
import { writePrivateFile } from './settings-file.js';
import { formatExport } from './import-export.js';
import type { ExportedSecret } from './import-export.js';
import type { ExportOptions } from './transfer-commands.js';
import { toVariable } from './variables.js';

/** `export`: values stay sealed by default. */
export async function exportValues(session: CommandContext, flags: ExportOptions): Promise<void> {
  const identity = flags.open ? await session.readIdentity() : undefined;
  const entries: ExportedSecret[] = [];
  for (const object of await fetchSecrets(session, flags)) {
    const { id, slug, used_by: usedBy, tags, description, rotate_after_days: rotateAfterDays, recipients } = object;
    const sealed = await fetchSealedValue(session, slug, { id });
    const known = omitUndefined({ usedBy, tags, description, rotateAfterDays });
    entries.push(
      identity === undefined
        ? { slug, value: sealed, isSealed: true, ...known, ...omitUndefined({ recipients }) }
        : { slug, value: await open(sealed, identity), isSealed: false, ...known },
    );
  }
  if (flags.format === 'dotenv') assertDistinct(entries);
  const text = formatExport(entries, flags.format);
  if (flags.output === undefined) await writeOutput(session.terminal.out, text);
  else await writePrivateFile(flags.output, text);
  session.say(`Exported ${entries.length} ${entries.length === 1 ? 'secret' : 'secrets'}.`);
}

function assertDistinct(entries: readonly ExportedSecret[]): void {
  const names = entries.map(({ slug }) => toVariable(slug));
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate === undefined) return;
  throw new CommandError(`Several secrets would become ${duplicate} in a .env file. Use --format json`, EXIT.conflict);
}

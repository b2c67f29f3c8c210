import { readMarks } from '../actions/marks.js';
import type { Marks } from '../actions/marks.js';
import type { Snapshot } from '../board.js';
import type { ForgeSettings } from '../forge-settings.js';
import type { ForgeName } from '../forges/facts.js';
import type { Reader } from '../forges/rules/to-rows.js';
import type { Database } from '../../storage/database.js';
import { composeSnapshot } from './compose.js';
import type { Stored } from './compose.js';
import { parseFacts } from './readings.js';
import { readStates } from './states.js';

/** Forges in the order of a board. */
export const FORGES: readonly ForgeName[] = ['github', 'forgejo', 'gitlab'];

export interface Composed {
  readonly snapshot: Snapshot;
  readonly marks: Marks;
}

/** Builds the board from the stored snapshots and local state. @returns `undefined` if no forge was ever read. */
export async function composeBoard(
  transaction: Database,
  personId: string,
  { settings, at }: { readonly settings: ForgeSettings; readonly at: number },
): Promise<Composed | undefined> {
  const states = await readStates(transaction, personId);
  if (states.size === 0) return undefined;
  const marks = await readMarks(transaction, personId, at);
  const stored = await readStored(transaction, personId);
  const parts = FORGES.flatMap((forge) => {
    const state = states.get(forge);
    const repositories = stored.get(forge) ?? [];
    return state === undefined ? [] : [{ state, reader: readerOf(settings, forge), repositories }];
  });
  return { snapshot: composeSnapshot(parts, marks, at), marks };
}

/** Returns the URL of a forge as in the settings; empty for github.com. */
export const sourceOf = (settings: ForgeSettings, forge: ForgeName): string => settings[`${forge}Url`];

function readerOf(settings: ForgeSettings, forge: ForgeName): Reader {
  return { forge, username: settings[`${forge}Username`], renovateAuthors: settings.renovateAuthors };
}

async function readStored(database: Database, personId: string): Promise<Map<string, Stored[]>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select(['forge', 'full_name', 'is_cut', 'facts'])
    .where('person_id', '=', personId)
    .orderBy('full_name')
    .execute();
  const byForge = new Map<string, Stored[]>();
  for (const { forge, full_name: fullName, is_cut, facts } of rows) {
    const own = byForge.get(forge) ?? [];
    own.push({ fullName, isCut: is_cut === 1, facts: parseFacts(facts) });
    byForge.set(forge, own);
  }
  return byForge;
}

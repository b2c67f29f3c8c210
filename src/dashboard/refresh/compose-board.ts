import { readLocalState } from '../actions/local-state.js';
import type { LocalState } from '../actions/local-state.js';
import type { BoardSnapshot } from '../boards/board.js';
import type { ForgeSettings } from '../settings/forge-settings.js';
import type { ForgeName } from '../forges/forge.js';
import type { BoardViewer } from '../forges/rules/board-rows.js';
import type { Database } from '../../storage/database.js';
import { composeBoardSnapshot } from './compose-board-snapshot.js';
import type { StoredRepository } from './compose-board-snapshot.js';
import { parseSnapshotData } from './repository-snapshots.js';
import { readForgeStatus } from './forge-status.js';

/** Forges in the order of a board. */
export const FORGE_ORDER: readonly ForgeName[] = ['github', 'forgejo', 'gitlab'];

export interface ComposedBoard {
  readonly snapshot: BoardSnapshot;
  readonly marks: LocalState;
}

/** Builds the board from the stored snapshots and local state. @returns `undefined` if no forge was ever read. */
export async function composeBoard(
  transaction: Database,
  personId: string,
  { settings, at }: { readonly settings: ForgeSettings; readonly at: number },
): Promise<ComposedBoard | undefined> {
  const states = await readForgeStatus(transaction, personId);
  if (states.size === 0) return undefined;
  const marks = await readLocalState(transaction, personId, at);
  const stored = await readStored(transaction, personId);
  const parts = FORGE_ORDER.flatMap((forge) => {
    const state = states.get(forge);
    const repositories = stored.get(forge) ?? [];
    return state === undefined ? [] : [{ state, reader: readerOf(settings, forge), repositories }];
  });
  return { snapshot: composeBoardSnapshot(parts, marks, at), marks };
}

/** Returns the URL of a forge as in the settings; empty for github.com. */
export const getForgeUrl = (settings: ForgeSettings, forge: ForgeName): string => settings[`${forge}Url`];

function readerOf(settings: ForgeSettings, forge: ForgeName): BoardViewer {
  return { forge, username: settings[`${forge}Username`], renovateAuthors: settings.renovateAuthors };
}

async function readStored(database: Database, personId: string): Promise<Map<string, StoredRepository[]>> {
  const rows = await database
    .selectFrom('forge_readings')
    .select(['forge', 'full_name', 'is_cut', 'facts'])
    .where('person_id', '=', personId)
    .orderBy('full_name')
    .execute();
  const byForge = new Map<string, StoredRepository[]>();
  for (const { forge, full_name: fullName, is_cut, facts } of rows) {
    const own = byForge.get(forge) ?? [];
    own.push({ fullName, isTruncated: is_cut === 1, facts: parseSnapshotData(facts) });
    byForge.set(forge, own);
  }
  return byForge;
}

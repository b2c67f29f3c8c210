import path from 'node:path';

import { compilePathGlobs } from '../../glob/compile-glob.js';
import type { Field, RecordTable, RelationField } from '../../fields.js';
import type { RecordTables } from '../../record-schema.js';
import type { SiteSource } from '../site-source.js';
import { CONTENT_EXTENSIONS } from './read-entries.js';

/** The kinds whose records are written in files, and which files those are. */
export interface ContentKinds {
  readonly tables: readonly RecordTable[];
  of(source: SiteSource): KindsOf;
}

/** The kinds that a file of this path below the source holds records of. */
export type KindsOf = (relativePath: string) => readonly RecordTable[];

const NONE: readonly RecordTable[] = [];

/**
 * A pattern is held against the path below the site's folder, as a person sees it there, and against the path below
 * the source, which is the only one that a source outside the site's folder has.
 */
export function createContentKinds(tables: RecordTables): ContentKinds {
  const kinds = Object.values(tables).flatMap((table) =>
    table.source ? [{ table, matches: compilePathGlobs(table.source.globs) }] : [],
  );
  return {
    tables: kinds.map(({ table }) => table),
    of({ workingDirectory, directory }) {
      if (kinds.length === 0) return () => NONE;
      const above = path.relative(workingDirectory, directory);
      return (relativePath) => {
        if (!CONTENT_NAME.test(relativePath)) return NONE;
        return kinds
          .filter(({ matches }) => matches(relativePath) || (above !== '' && matches(`${above}/${relativePath}`)))
          .map(({ table }) => table);
      };
    },
  };
}

/** A pattern may well name pictures that lie beside; they hold no records. */
const CONTENT_NAME = new RegExp(`[^/]\\.(?:${[...CONTENT_EXTENSIONS].join('|')})$`, 'i');

/** Whether a link's keys are paths of files or folders. */
export function isPathLink(field: Field): field is RelationField {
  if (field.kind !== 'relation' || field.relation.by !== 'link') return false;
  return (field.type === 'File' || field.type === 'Directory') && field.relation.to === 'id';
}

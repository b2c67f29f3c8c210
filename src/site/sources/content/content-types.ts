import path from 'node:path';

import { compilePathGlobs } from '../../patterns/compile-glob.js';
import type { RecordField, RecordTable, RelationField } from '../../../core/record-types.js';
import type { RecordTables } from '../../records/record-schema.js';
import type { SiteSource } from '../site-source.js';
import { CONTENT_EXTENSIONS } from './read-entries.js';

/** The record types with `@source`, and the files that contain their records. */
export interface ContentTypes {
  readonly tables: readonly RecordTable[];
  of(source: SiteSource): FindContentTypes;
}

/** Returns the record types of the records in a file, given its path below the source. */
export type FindContentTypes = (relativePath: string) => readonly RecordTable[];

const NONE: readonly RecordTable[] = [];

/**
 * Finds the record types of files by their globs. A glob is matched against the path below the site's folder and
 * against the path below the source, which is the only one for a source outside the site's folder.
 */
export function createContentTypes(tables: RecordTables): ContentTypes {
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

/** Excludes files without records, such as images, that a glob also matches. */
const CONTENT_NAME = new RegExp(`[^/]\\.(?:${[...CONTENT_EXTENSIONS].join('|')})$`, 'i');

/** Whether the values of a link are paths of files or folders. */
export function isPathLink(field: RecordField): field is RelationField {
  if (field.kind !== 'relation' || field.relation.by !== 'link') return false;
  return (field.type === 'File' || field.type === 'Directory') && field.relation.to === 'id';
}

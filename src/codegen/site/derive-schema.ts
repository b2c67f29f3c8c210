import type { SiteContract } from './read-contract.js';
import { deriveConnection } from './derive-connection.js';
import { deriveFieldsEnum } from './derive-enum.js';
import { deriveFilterInput, deriveFilterListInput, deriveRecordFilter, listFiltered } from './derive-filters.js';
import { createInnerFields, listMembers } from './derive-members.js';
import { deriveOperators } from './derive-operators.js';
import { deriveQuery } from './derive-query.js';

/** Derives the SDL of all types that follow from the record types: queries, connections, filters and sort inputs. */
export function deriveSchema({ tables, nodeFields }: Pick<SiteContract, 'nodeFields' | 'tables'>): string {
  const inner = createInnerFields(tables, nodeFields);
  const records = new Map(tables.map(({ kind, fields }) => [kind, fields]));
  const filtered = new Map([...records, ...listFiltered([...records.values()].flat(), inner)]);
  const lists = new Set(
    [...filtered.values()]
      .flat()
      .filter((field) => field.list && inner(field).length > 0)
      .map(({ type }) => type),
  );
  return [
    deriveQuery(tables, inner),
    ...tables.flatMap(({ kind, fields }) => [
      deriveConnection(kind),
      deriveFieldsEnum(kind, listMembers(fields, inner)),
    ]),
    ...[...filtered].map(([type, fields]) =>
      records.has(type) ? deriveRecordFilter(type, fields, inner) : deriveFilterInput(type, fields, inner),
    ),
    ...[...lists].map(deriveFilterListInput),
    deriveOperators(),
  ].join('\n');
}

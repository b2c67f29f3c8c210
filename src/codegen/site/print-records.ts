import type { RecordTable } from '../../site/fields.js';
import { listColumns } from './list-columns.js';
import { printKey, printLiteral } from './print-literal.js';

/** What TypeScript calls a record of the kind. */
export const recordName = (kind: string): string => `${kind}Record`;

/** `records.ts`: a type for the stored form of each kind, and the field tables. */
export const printRecords = (tables: readonly RecordTable[]): string => `
import type { RecordTable } from '../../site/fields.js';

export type RecordKind = ${tables.map(({ kind }) => `'${kind}'`).join(' | ') || 'never'};

${tables.map(printRecord).join('\n\n')}

/** Records by kind. */
export interface RecordsByKind {
${tables.map(({ kind }) => `  ${kind}: ${recordName(kind)};`).join('\n')}
}

/** A record of any kind. */
export type NodeRecord = RecordsByKind[RecordKind];

export const records: Readonly<Record<RecordKind, RecordTable>> = {
${tables.map((table) => `  ${table.kind}: ${printLiteral(table, '  ')},`).join('\n')}
};
`;

const printRecord = ({ kind, fields }: RecordTable): string => `/** A record of ${kind} as it is stored, by column. */
export type ${recordName(kind)} = {
${listColumns(fields)
  .map(({ name, type }) => `  readonly ${printKey(name)}: ${type};`)
  .join('\n')}
};`;

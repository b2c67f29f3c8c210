import type { RecordTable } from '../../core/record-types.js';
import { listColumns } from './list-columns.js';
import { printKey, printLiteral } from './print-literal.js';

/** Returns the name of the TypeScript type of a record. */
export const toRecordTypeName = (kind: string): string => `${kind}Record`;

/** Prints `records.ts`: a type for the stored form of each record type, and the field tables. */
export const printRecords = (tables: readonly RecordTable[]): string => `
import type { RecordTable } from '../../core/record-types.js';

export type RecordKind = ${tables.map(({ kind }) => `'${kind}'`).join(' | ') || 'never'};

${tables.map(printRecord).join('\n\n')}

/** The stored form of each record type. */
export interface RecordsByKind {
${tables.map(({ kind }) => `  ${kind}: ${toRecordTypeName(kind)};`).join('\n')}
}

/** A stored record of any type. */
export type NodeRecord = RecordsByKind[RecordKind];

export const records: Readonly<Record<RecordKind, RecordTable>> = {
${tables.map((table) => `  ${table.kind}: ${printLiteral(table, '  ')},`).join('\n')}
};
`;

const printRecord = ({ kind, fields }: RecordTable): string => `/** The stored columns of a ${kind} record. */
export type ${toRecordTypeName(kind)} = {
${listColumns(fields)
  .map(({ name, type }) => `  readonly ${printKey(name)}: ${type};`)
  .join('\n')}
};`;

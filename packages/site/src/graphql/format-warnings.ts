import { type DocumentNode, GraphQLError, Kind, parse, type ValueNode, visit } from 'graphql';
import type { StoredQuery } from '../config/stored-queries.js';
import { findFormatConflict } from '../query/dates.js';

/**
 * Returns a warning for each date format in stored queries that Luxon reads and that Moment would read differently. A
 * query that can't be parsed has none.
 */
export function listFormatWarnings(queries: readonly StoredQuery[]): string[] {
  return queries.flatMap((query) => {
    const warnings = new Map<string, string>();
    for (const { line, format } of listFormats(query)) {
      const conflict = findFormatConflict(format);
      if (!conflict || warnings.has(format)) continue;
      const meanings = `Luxon's tokens and returns "${conflict.luxon}"; with Moment's it would return "${conflict.moment}"`;
      warnings.set(format, `${query.file}:${line}: The date format "${format}" is read with ${meanings}.`);
    }
    return [...warnings.values()];
  });
}

interface FormatUse {
  readonly line: number;
  readonly format: string;
}

function listFormats({ text, variables }: StoredQuery): FormatUse[] {
  const document = parseQuery(text);
  if (document === undefined) return [];
  const uses: FormatUse[] = [];
  const names = new Map<string, number>();
  const add = (value: ValueNode | undefined, line: number): void => {
    if (value?.kind === Kind.STRING) uses.push({ line, format: value.value });
  };
  visit(document, {
    Argument({ name, value, loc }) {
      if (name.value !== 'formatString') return;
      const line = loc?.startToken.line ?? 1;
      if (value.kind === Kind.VARIABLE) names.set(value.name.value, line);
      else add(value, line);
    },
  });
  visit(document, {
    VariableDefinition({ variable, defaultValue }) {
      const line = names.get(variable.name.value);
      if (line !== undefined) add(defaultValue, line);
    },
  });
  for (const [name, line] of names) {
    const given = variables.map((set) => set[name]).filter((value) => typeof value === 'string');
    uses.push(...given.map((format) => ({ line, format })));
  }
  return uses;
}

function parseQuery(text: string): DocumentNode | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
}

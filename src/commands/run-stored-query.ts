import { execute, Kind, parse } from 'graphql';
import type { DocumentNode, ExecutionResult, FieldNode, GraphQLError, GraphQLSchema } from 'graphql';
import type { SiteContext } from '../resolvers/context.js';
import { getOperation } from '../resolvers/stored-arguments.js';
import type { StoredQuery } from '../site/config/stored-queries.js';

/** The reason for a missing part of a response. */
export interface QueryFailure {
  readonly message: string;
  /** The code of an `AppError`; absent for other failures. */
  readonly code: string | undefined;
}

export interface StoredQueryRun {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly query: StoredQuery;
  readonly contextOf: () => SiteContext;
  readonly signal: AbortSignal;
}

/** Runs a query with each of its variable sets, for every page; returns the failures. */
export async function runStoredQuery(run: StoredQueryRun): Promise<QueryFailure[]> {
  const failures: QueryFailure[] = [];
  for (const variables of run.query.variables) {
    for (let skip: number | undefined = findFirstOffset(run, variables); skip !== undefined;) {
      run.signal.throwIfAborted();
      const result = await runPage(run, skip === 0 ? variables : { ...variables, skip });
      for (const error of result.errors ?? []) failures.push(toFailure(run.query.file, error));
      skip = findNextOffset(result, skip);
    }
  }
  return failures;
}

async function runPage({ schema, document, contextOf }: StoredQueryRun, variableValues: object) {
  const args = { schema, document, variableValues: variableValues as Record<string, unknown> };
  return execute({ ...args, contextValue: contextOf() });
}

function toFailure(file: string, { message, path = [], originalError }: GraphQLError): QueryFailure {
  const code = originalError && 'code' in originalError ? String(originalError.code) : undefined;
  const isExpected = originalError?.name === 'AppError' || originalError === undefined;
  // Twenty images of one corrupt file fail alike, so the path of the first would mislead.
  return { message: `${file}: ${isExpected ? message : `${path.join('.')}: ${message}`}`, code };
}

const PAGE = 'trellisPage';

const PAGE_INFO = getOperation(parse(`{ ${PAGE}: pageInfo { hasNextPage perPage } }`)).selectionSet;

/** Adds the page info to a top-level connection with `skip: $skip`. */
export function addPageInfo(document: DocumentNode): DocumentNode {
  const definitions = document.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
    const selections = definition.selectionSet.selections.map((selection) =>
      selection.kind === Kind.FIELD && isPaged(selection) ? withPage(selection) : selection,
    );
    return { ...definition, selectionSet: { ...definition.selectionSet, selections } };
  });
  return { ...document, definitions };
}

const isPaged = ({ arguments: args = [] }: FieldNode): boolean =>
  args.some(({ name, value }) => name.value === 'skip' && value.kind === Kind.VARIABLE && value.name.value === 'skip');

function withPage(field: FieldNode): FieldNode {
  const selections = [...(field.selectionSet?.selections ?? []), ...PAGE_INFO.selections];
  return { ...field, selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

/** Returns the offset of the first page, from the variables or their defaults. */
function findFirstOffset({ document }: StoredQueryRun, variables: Readonly<Record<string, unknown>>): number {
  if (typeof variables.skip === 'number') return variables.skip;
  const { variableDefinitions = [] } = getOperation(document);
  const own = variableDefinitions.find(({ variable }) => variable.name.value === 'skip')?.defaultValue;
  return own?.kind === Kind.INT ? Number(own.value) : 0;
}

/** Returns the offset of the next page, from the shortest page that has a successor. */
function findNextOffset({ data }: ExecutionResult, skip: number): number | undefined {
  const steps = Object.values(data ?? {}).flatMap((value) => {
    const page = (value as Record<string, { hasNextPage: boolean; perPage: number | null }> | null)?.[PAGE];
    return page?.hasNextPage && page.perPage ? [page.perPage] : [];
  });
  return steps.length === 0 ? undefined : skip + Math.min(...steps);
}

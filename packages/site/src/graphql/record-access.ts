import type { GraphQLResolveInfo } from 'graphql';
import type { RecordConnection } from '../query/record-queries.js';
import type { RecordContext } from './context.js';
import { type AllArguments, askerOf, read, toQuery } from './record-resolvers.js';
import { CONNECTION, getSelection, RECORD, spend, toSelectedColumn, valuesPerRecord } from './selection.js';

/** The request that a resolver answers: the last argument of every resolver. */
type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType' | 'schema' | 'variableValues'>;

type KindOf<ByKind> = Extract<keyof ByKind, string>;

/**
 * The records of the site for hand-written resolvers. The arguments `filter`, `sort`, `skip` and `limit` are those of the
 * derived queries; a path in `sort` may also have dots.
 *
 * The records of `find`, `list` and `page` have only the fields that the request selects, for the result of the resolver.
 * A resolver that looks at values itself reads them with `values`.
 *
 * @template ByKind The stored records by record type: `RecordsByKind` of the generated `records.ts`.
 */
export class RecordAccess<ByKind extends object> {
  readonly #context: RecordContext;

  constructor(context: RecordContext) {
    this.#context = context;
  }

  /** Returns the first match in creation order. */
  find<Kind extends KindOf<ByKind>>(
    kind: Kind,
    { filter }: Pick<AllArguments, 'filter'>,
    info: Info,
  ): ByKind[Kind] | null | Promise<ByKind[Kind] | null> {
    const context = this.#context;
    const query = { filter, ...askerOf(context, info) };
    return read(() => {
      const found = context.records.find(kind, query, getSelection(kind, RECORD, info));
      return (found ?? null) as ByKind[Kind] | null;
    }, context);
  }

  /** Returns the matches in order. */
  list<Kind extends KindOf<ByKind>>(
    kind: Kind,
    query: AllArguments,
    info: Info,
  ): readonly ByKind[Kind][] | Promise<readonly ByKind[Kind][]> {
    const context = this.#context;
    const page = context.records.page(kind, toQuery(query, askerOf(context, info)), getSelection(kind, RECORD, info));
    return read(
      () => spend(page.nodes, valuesPerRecord(info), context.budget) as unknown as readonly ByKind[Kind][],
      context,
    );
  }

  /** Returns the matches as a connection, such as `RecipeConnection`, with counts, groups and pages. */
  page(kind: KindOf<ByKind>, query: AllArguments, info: Info): RecordConnection {
    const { records } = this.#context;
    return records.page(kind, toQuery(query, askerOf(this.#context, info)), getSelection(kind, CONNECTION, info));
  }

  /** Returns columns of the matches in their stored form: Booleans are 0 or 1, and lists are JSON text. */
  values<Kind extends KindOf<ByKind>, Column extends KindOf<ByKind[Kind]>>(
    kind: Kind,
    columns: readonly Column[],
    query: AllArguments,
    info: Pick<Info, 'schema'>,
  ): readonly Pick<ByKind[Kind], Column>[] | Promise<readonly Pick<ByKind[Kind], Column>[]> {
    const context = this.#context;
    const selection = { values: columns.map(toSelectedColumn), relations: [] };
    const page = context.records.page(kind, toQuery(query, askerOf(context, info)), selection);
    return read(() => page.nodes as unknown as readonly Pick<ByKind[Kind], Column>[], context);
  }
}

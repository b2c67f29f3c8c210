import { type ClientOptions, createClient } from './create-client.js';
import { requireData } from './errors.js';

/** The text of a GraphQL query with the types of its result and variables, in the form that GraphQL clients share. */
export type TypedQuery<Result, Variables> = string & { readonly __apiType?: (variables: Variables) => Result };

/** An error of a query, as GraphQL defines it. */
export interface QueryError {
  readonly message: string;
  /** The fields and positions from the root of the result to the field that failed. */
  readonly path?: readonly (number | string)[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The result of a query. Fields that failed are null in `data`, and have an entry in `errors`. */
export interface QueryResult<Result> {
  readonly data: Result | null;
  readonly errors: readonly QueryError[];
}

/** Thrown for a query with errors. Its message is that of the first one. */
export class QueryFailedError extends Error {
  override readonly name = 'QueryFailedError';
  readonly errors: readonly QueryError[];

  constructor(errors: readonly QueryError[]) {
    super(errors[0]?.message ?? 'The server sent no data.');
    this.errors = errors;
  }
}

/** A client of the GraphQL API of a site. */
export interface SiteClient {
  /**
   * Resolves to the data of a query.
   *
   * @throws QueryFailedError for a query with errors, ApiError for an error response without a result.
   */
  query<Result, Variables>(query: TypedQuery<Result, Variables>, ...variables: Given<Variables>): Promise<Result>;
  /**
   * Resolves to the data of a query and its errors.
   *
   * @throws ApiError for an error response without a result.
   */
  result<Result, Variables>(
    query: TypedQuery<Result, Variables>,
    ...variables: Given<Variables>
  ): Promise<QueryResult<Result>>;
}

/** A query without required variables needs no argument for them. */
type Given<Variables> = Record<string, never> extends Variables ? [variables?: Variables] : [variables: Variables];

interface QueryPaths {
  readonly '/graphql': {
    readonly post: {
      readonly parameters: { readonly query?: never };
      readonly requestBody: { readonly content: { readonly 'application/json': unknown } };
      readonly responses: {
        readonly 200: { readonly content: { readonly 'application/json': unknown } };
        readonly default: { readonly content: { readonly 'application/json': unknown } };
      };
    };
  };
}

/**
 * Creates a client of the GraphQL API of a site, with the retries and time limits of the other clients.
 *
 * @param baseUrl The address of the server, such as `http://localhost:4000`.
 */
export function createSiteClient(baseUrl: string, options: ClientOptions = {}): SiteClient {
  const contract = { baseUrl, revision: '', product: 'Trellis site', tokenVariable: 'TRELLIS_TOKEN' };
  // A schema has no revision.
  const client = createClient<QueryPaths>(contract, { ...options, onWarning: () => undefined });
  const send = async (query: string, variables: unknown = {}): Promise<QueryResult<unknown>> => {
    const response = await client.POST('/graphql', { body: { query, variables } });
    const { data = null, errors = [] } = Object(response.data ?? response.error) as Partial<QueryResult<unknown>>;
    // A refused query has errors and no data, with a status such as 400.
    if (errors.length === 0) requireData(response);
    return { data, errors };
  };
  return {
    // The generated types describe the results.
    result: send as SiteClient['result'],
    query: (async (query: string, variables: unknown) => {
      const { data, errors } = await send(query, variables);
      if (errors.length > 0 || data === null) throw new QueryFailedError(errors);
      return data;
    }) as SiteClient['query'],
  };
}

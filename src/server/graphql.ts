import type { IncomingMessage, ServerResponse } from 'node:http';
import { GraphQLError, OperationTypeNode, execute as graphqlExecute, getOperationAST } from 'graphql';
import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLFormattedError, GraphQLSchema } from 'graphql';
import { AppError } from '../errors.js';
import { chooseEncoding, compress, MIN_COMPRESSED_BYTES } from './content-encoding.js';
import { chooseMediaType } from './graphql-accept.js';
import type { GraphqlMediaType } from './graphql-accept.js';
import { OperationBudget } from './graphql-budget.js';
import type { BudgetLimits } from './graphql-budget.js';
import { createDocuments } from './graphql-documents.js';
import { toPublicError } from './graphql-errors.js';
import type { Report } from './graphql-errors.js';
import { readGraphqlRequest } from './graphql-request.js';
import type { GraphqlRequest } from './graphql-request.js';
import { REVALIDATE } from './headers.js';

export interface GraphqlOptions {
  readonly schema: GraphQLSchema;
  /** Whether queries may ask about the schema itself. */
  readonly introspection: boolean;
  readonly limits: BudgetLimits;
  /** What the resolvers of one request are given; what they answer is taken from its budget. */
  readonly createContext: (budget: OperationBudget) => unknown;
  readonly report: (defect: unknown, requestId: string) => void;
  /** Checks a request before its query is read; throws an AppError for one that is rejected. */
  readonly admit?: (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined;
  /** Another engine than graphql-js may stand in here. */
  readonly execute?: (args: ExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;
}

export type GraphqlEndpoint = (request: IncomingMessage, response: ServerResponse, requestId: string) => void;

interface Answer {
  readonly status: number;
  /** Absent when no resolver was reached. */
  readonly data?: ExecutionResult['data'];
  readonly errors?: readonly unknown[] | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * GraphQL over HTTP, on Node's own request and response.
 *
 * Written here rather than taken from graphql-http, whose refusals carry no
 * body or code and which serialises through a replacer function; that package's
 * audits hold this to the specification.
 */
export function createGraphqlEndpoint(options: GraphqlOptions): GraphqlEndpoint {
  const answer = createAnswer(options);
  return (request, response, requestId) => {
    const report: Report = (defect) => options.report(defect, requestId);
    const type = chooseMediaType(request.headers.accept);
    const answered = type ? answer(request, response, unfitStatus(type)) : Promise.reject(notAcceptable());
    answered
      .catch((error: unknown) => toRefusal(error, unfitStatus(type)))
      .then((sent) => send(response, type, sent, (error) => toPublicError(error, requestId, report)))
      .catch((defect: unknown) => {
        report(defect);
        response.destroy();
      });
  };
}

/** A well-formed request whose document does not fit: 200 where only `application/json` is understood, else 400. */
const unfitStatus = (type: GraphqlMediaType | undefined) => (type === 'application/graphql-response+json' ? 400 : 200);

function createAnswer(options: GraphqlOptions) {
  const prepare = createDocuments(options);
  return async (request: IncomingMessage, response: ServerResponse, unfit: number): Promise<Answer> => {
    await options.admit?.(request, response);
    const asked = await readGraphqlRequest(request);
    const { document, errors } = prepare(asked.query);
    requireOperation(document, asked.operationName, { method: request.method, schema: options.schema });
    if (errors.length > 0) return { status: unfit, errors };
    const result = await run(document, asked, options);
    return { status: 'data' in result ? 200 : unfit, ...result };
  };
}

/** An operation past its budget has no data: what it has by then would look like an answer. */
async function run(
  document: DocumentNode,
  { variables, operationName }: GraphqlRequest,
  { schema, limits, createContext, execute = graphqlExecute }: GraphqlOptions,
): Promise<ExecutionResult> {
  const budget = new OperationBudget(limits);
  const result = execute({
    schema,
    document,
    variableValues: variables,
    operationName,
    contextValue: createContext(budget),
  });
  const answer = result instanceof Promise ? await budget.untilTimeout(result) : result;
  const { refusal } = budget;
  if (!refusal) {
    budget.requireShort(answer.data);
    return answer;
  }
  const located = answer.errors?.find(({ originalError }) => originalError === refusal);
  // Inside a statement the refusal is the database's error by the time that it arrives, without a place.
  return { data: null, errors: [located ?? new GraphQLError(refusal.message, { originalError: refusal })] };
}

interface OperationTarget {
  readonly method: string | undefined;
  readonly schema: GraphQLSchema;
}

function requireOperation(document: DocumentNode, name: string | undefined, { method, schema }: OperationTarget): void {
  const operation = getOperationAST(document, name)?.operation;
  if (!operation) {
    const expected = name === undefined ? 'one operation, or "operationName"' : 'an operation of that "operationName"';
    throw new AppError('invalid_input', `Expected ${expected}; the document has none that fits.`, {
      field: 'operationName',
    });
  }
  if (operation === OperationTypeNode.SUBSCRIPTION) {
    throw new AppError('invalid_input', 'Expected a query or a mutation; received a subscription.', { field: 'query' });
  }
  if (operation === OperationTypeNode.MUTATION && method === 'GET') {
    throw new AppError('method_not_allowed', 'Expected a mutation by POST; received it by GET.', {
      headers: { Allow: 'POST' },
    });
  }
  // A request error: graphql-js would answer it as an execution that failed.
  if (!schema.getRootType(operation)) {
    throw new AppError('invalid_input', 'The schema has no mutations.', { field: 'query' });
  }
}

function toRefusal(error: unknown, unfit: number): Answer {
  if (error instanceof AppError) {
    const headers = error.code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : error.headers;
    return { status: error.status, errors: [error], headers };
  }
  return { status: error instanceof GraphQLError ? unfit : 500, errors: [error] };
}

const notAcceptable = () =>
  new AppError(
    'not_acceptable',
    'Expected to answer in application/graphql-response+json or application/json in UTF-8; neither is accepted.',
  );

/** A list may have the same error in each record; clients need some of them only. */
const MAX_ERRORS = 100;

async function send(
  response: ServerResponse,
  type: GraphqlMediaType = 'application/json',
  { status, headers, data, errors }: Answer,
  show: (error: unknown) => GraphQLFormattedError,
): Promise<void> {
  // The specification puts errors first, where a reader of a long answer sees them.
  const body = JSON.stringify({ errors: errors?.slice(0, MAX_ERRORS).map(show), data });
  const length = Buffer.byteLength(body);
  const common = {
    ...headers,
    'Content-Type': `${type}; charset=utf-8`,
    // The response to a GET depends on these headers, and the files it speaks of change.
    Vary: 'Accept, Accept-Encoding',
    'Cache-Control': REVALIDATE,
    'X-Content-Type-Options': 'nosniff',
  };
  const accepted = response.req.headers['accept-encoding'];
  const encoding = length < MIN_COMPRESSED_BYTES ? undefined : chooseEncoding(accepted);
  if (encoding !== undefined) {
    const bytes = await compress(body, encoding, 'dynamic');
    response.writeHead(status, { ...common, 'Content-Encoding': encoding, 'Content-Length': bytes.length }).end(bytes);
    return;
  }
  response.writeHead(status, { ...common, 'Content-Length': length });
  // Plain ASCII is the same in both, and the former is written in a third of the time.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}

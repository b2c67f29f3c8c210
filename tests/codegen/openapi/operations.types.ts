/** Type tests of the generated signatures. Only the type checker reads this file. */
import type { SessionCaller, TokenCaller } from '../../../src/accounts/callers.js';
import type {
  CreateTokenInput,
  DeliverGithubInput,
  DashboardHandlers,
  GetDashboardInput,
  GetVersionOutput,
  TokensHandlers,
} from '../../../src/generated/dashboard/operations.js';
import type { ListObjectsInput, ListObjectsOutput } from '../../../src/generated/secrets/operations.js';

declare const board: GetDashboardInput;
declare const creation: CreateTokenInput;
declare const listing: ListObjectsInput;

export const withDefault: boolean = board.query.includeDrafts;
export const withoutDefault: string | undefined = board.query.owner;
export const scopes: readonly ('read' | 'write')[] = creation.body.scopes;
export const limit: number = listing.query.limit;
export const twoCallers: SessionCaller | TokenCaller = board.caller;
export const oneCaller: SessionCaller = creation.caller;

declare const delivery: DeliverGithubInput;
export const bytes: () => Promise<Buffer> = delivery.body;

// @ts-expect-error A parameter without a default is optional.
export const owner: string = board.query.owner;

// @ts-expect-error The caller may also be a token.
export const session: SessionCaller = board.caller;

// @ts-expect-error The operation has no path parameters.
export const params: unknown = board.params;

// @ts-expect-error The contract does not declare this status.
export const status: GetVersionOutput = { status: 201, body: { version: '1.0.0' } };

// @ts-expect-error The contract requires the header with the total.
export const noTotal: ListObjectsOutput = { status: 200, body: [] };

export const total: ListObjectsOutput = { status: 200, body: [], headers: { 'X-Total-Count': '0' } };

declare const tokens: Omit<TokensHandlers, 'revokeToken'>;

// @ts-expect-error Property 'revokeToken' is missing.
export const handlers: TokensHandlers = tokens;

declare const all: DashboardHandlers;
export const part: TokensHandlers = all;

import type { PersonalTokens } from '../../accounts/tokens.js';
import type { Boards } from '../../dashboard/boards.js';
import type { DashboardHandlers } from '../../generated/dashboard/operations.js';
import type { Readiness } from '../../storage/readiness.js';
import { boardHandlers } from './board.js';
import { healthHandlers } from './health.js';
import { tokensHandlers } from './tokens.js';

/** What the operations of the dashboard stand on. */
export interface DashboardServices {
  readonly boards: Boards;
  readonly readiness: Readiness;
  readonly tokens: PersonalTokens;
  /** The release without its leading v, or `dev`. */
  readonly version: string;
}

export const dashboardHandlers = (services: DashboardServices): DashboardHandlers => ({
  ...healthHandlers(services),
  ...boardHandlers(services),
  ...tokensHandlers(services),
});

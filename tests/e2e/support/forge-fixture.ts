import { startBoardForges, type BoardForges } from '../board/board-forges.js';
import { openSignedInFixture, type PageFixture } from './fixtures.js';
import type { WatchedServerOptions } from './test-server.js';

/** A signed-in browser at a dashboard, with one test forge of each kind that is not configured yet. */
export interface ForgeFixture extends PageFixture {
  readonly forges: BoardForges;
}

export async function openForgeFixture(options: Omit<WatchedServerOptions, 'services'> = {}): Promise<ForgeFixture> {
  const forges = await startBoardForges();
  const stage = await openSignedInFixture({ ...options, services: 'dashboard' }).catch(async (error: unknown) => {
    // The caller has nothing to close if this fails.
    await forges.close();
    throw error;
  });
  return {
    ...stage,
    forges,
    async close() {
      await stage.close();
      await forges.close();
    },
  };
}

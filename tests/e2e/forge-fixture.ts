import { startBoardForges, type BoardForges } from './board-forges.js';
import { openPageFixture, type PageFixture, type PageFixtureOptions } from './fixtures.js';

/** A signed-in browser at a dashboard, with one test forge of each kind that is not configured yet. */
export interface ForgeFixture extends PageFixture {
  readonly forges: BoardForges;
}

export async function openForgeFixture(options: Omit<PageFixtureOptions, 'services'> = {}): Promise<ForgeFixture> {
  const [stage, forges] = await Promise.all([
    openPageFixture({ ...options, services: 'dashboard' }),
    startBoardForges(),
  ]);
  return {
    ...stage,
    forges,
    async close() {
      await stage.close();
      await forges.close();
    },
  };
}

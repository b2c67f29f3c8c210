import { startBoardForges } from './board-forges.js';
import type { BoardForges } from './board-forges.js';
import { openStage } from './stage.js';
import type { Stage, StageOptions } from './stage.js';

/** A signed-in browser at a dashboard, with one test forge of each kind that is not configured yet. */
export interface ForgeStage extends Stage {
  readonly forges: BoardForges;
}

export async function openForgeStage(options: Omit<StageOptions, 'services'> = {}): Promise<ForgeStage> {
  const [stage, forges] = await Promise.all([openStage({ ...options, services: 'dashboard' }), startBoardForges()]);
  return {
    ...stage,
    forges,
    async close() {
      await stage.close();
      await forges.close();
    },
  };
}

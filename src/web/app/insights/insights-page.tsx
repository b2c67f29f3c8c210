import { BoardHead } from '../board/board-head.js';
import { newestBoard, boardOwner, boardError } from '../board/board-store.js';
import { useBoard } from '../board/follow-board.js';
import { ForgeNotices } from '../board/forge-notices.js';
import type { Board } from '../board/rows.js';
import { BarChart } from './bar-chart.js';
import { ApiQuotas } from './api-quotas.js';
import { ThroughputFigure } from './throughput.js';
import { listApiQuotas, groupByAge, groupIssuesByRepository, groupCiByRepository, CI_PARTS } from './chart-data.js';
import './insights.css';
import '../board/board.css';

/** Charts contain no buttons that an update could move, so they always show the newest board. */
export function InsightsPage() {
  useBoard(true);
  const board = newestBoard.value;
  return (
    <>
      <BoardHead title="Insights" includeDrafts />
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          <Charts board={board} />
        </>
      )}
    </>
  );
}

function Charts({ board }: { readonly board: Board }) {
  const issues = board.issues.filter(({ housekeeping }) => !housekeeping);
  return (
    <div class="charts">
      <ThroughputFigure key={boardOwner.value} />
      <BarChart
        title="CI by repository"
        bars={groupCiByRepository(board.pullRequests)}
        parts={CI_PARTS}
        kinds={['good', 'wait', 'bad', 'none']}
      />
      <BarChart
        title="Issues by repository"
        bars={groupIssuesByRepository(issues)}
        parts={['Open']}
        kinds={['plain']}
      />
      <BarChart title="Pull request age" bars={groupByAge(board.pullRequests)} parts={['Open']} kinds={['plain']} />
      <BarChart title="Issue age" bars={groupByAge(issues)} parts={['Open']} kinds={['plain']} />
      <ApiQuotas budgets={listApiQuotas(board)} />
    </div>
  );
}

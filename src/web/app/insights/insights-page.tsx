import { BoardHead } from '../board/board-head.js';
import { newest, owner, problem } from '../board/board-store.js';
import { useBoard } from '../board/follow-board.js';
import { ForgeNotes } from '../board/forge-notes.js';
import type { Board } from '../board/rows.js';
import { BarChart } from './bar-chart.js';
import { Budgets } from './budgets.js';
import { Throughput } from './throughput.js';
import { budgetsOf, byAge, byRepository, ciByRepository, CI_PARTS } from './figures.js';
import './insights.css';
import '../board/board.css';

/** Charts contain no buttons that an update could move, so they always show the newest board. */
export function InsightsPage() {
  useBoard(true);
  const board = newest.value;
  return (
    <>
      <BoardHead title="Insights" includeDrafts />
      {board === undefined ? (
        problem.value === undefined && <p class="quiet">Loading …</p>
      ) : (
        <>
          <ForgeNotes board={board} />
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
      <Throughput key={owner.value} />
      <BarChart
        title="CI by repository"
        bars={ciByRepository(board.pullRequests)}
        parts={CI_PARTS}
        kinds={['good', 'wait', 'bad', 'none']}
      />
      <BarChart title="Issues by repository" bars={byRepository(issues)} parts={['Open']} kinds={['plain']} />
      <BarChart title="Pull request age" bars={byAge(board.pullRequests)} parts={['Open']} kinds={['plain']} />
      <BarChart title="Issue age" bars={byAge(issues)} parts={['Open']} kinds={['plain']} />
      <Budgets budgets={budgetsOf(board)} />
    </div>
  );
}

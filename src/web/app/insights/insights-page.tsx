import { useEffect } from 'preact/hooks';
import { followBoard, problem, shown } from '../board/board-store.js';
import type { Board } from '../board/rows.js';
import { Heading } from '../shell/heading.js';
import { BarChart } from './bar-chart.js';
import { Budgets } from './budgets.js';
import { budgetsOf, byAge, ciByRepository, CI_PARTS } from './figures.js';
import './insights.css';

export function InsightsPage() {
  useEffect(() => {
    const controller = new AbortController();
    void followBoard(true, controller.signal);
    return () => controller.abort();
  }, []);
  const board = shown.value;
  return (
    <>
      <Heading>Insights</Heading>
      {problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      {board === undefined ? <p class="quiet">Loading …</p> : <Charts board={board} />}
    </>
  );
}

function Charts({ board }: { readonly board: Board }) {
  return (
    <div class="charts">
      <BarChart
        title="CI by repository"
        bars={ciByRepository(board.pullRequests)}
        parts={CI_PARTS}
        kinds={['good', 'wait', 'bad', 'none']}
      />
      <BarChart title="How old pull requests are" bars={byAge(board.pullRequests)} parts={['Open']} kinds={['plain']} />
      <BarChart title="How old issues are" bars={byAge(board.issues)} parts={['Open']} kinds={['plain']} />
      <Budgets budgets={budgetsOf(board)} />
    </div>
  );
}

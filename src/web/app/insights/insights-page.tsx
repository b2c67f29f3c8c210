import '../board/board.css';
import './insights.css';
import { BoardHead, EmptyBoard, ForgeNotices, hasSource } from '../board/board-head.js';
import { boardError, boardOwner, newestBoard } from '../board/data/board-store.js';
import { useBoard } from '../board/data/follow-board.js';
import type { Board } from '../board/data/rows.js';
import { useAddress } from '../ui/address.js';
import { Countdown } from '../ui/time-elements.js';
import { formatTime, serverNow } from '../ui/times.js';
import { BarChart, ChartTable, NoData } from './bar-chart.js';
import {
  type ApiQuota,
  CI_PARTS,
  groupByAge,
  groupCiByRepository,
  groupIssuesByRepository,
  insightsState,
  isOrdinary,
  listApiQuotas,
  NO_INSIGHTS_STATE,
  period,
  readInsightsState,
  SEVERITY_NAMES,
  showRows,
} from './chart-data.js';
import { Reviews } from './reviews.js';
import { ReviewRowsDialog, RowsDialog } from './rows-dialog.js';
import { PERIODS } from './throughput-data.js';
import { ThroughputFigure } from './throughput.js';

/** Charts contain no buttons that an update could move, so they always show the newest board. */
export function InsightsPage() {
  useBoard(true);
  useAddress(insightsState, NO_INSIGHTS_STATE, readInsightsState);
  const board = newestBoard.value;
  return (
    <>
      <BoardHead title="Insights" />
      {board === undefined ? (
        boardError.value === undefined && <p class="quiet skeleton">Loading …</p>
      ) : (
        <>
          <ForgeNotices board={board} />
          {hasSource(board) ? (
            <>
              <Periods />
              <Charts board={board} />
            </>
          ) : (
            <EmptyBoard board={board} rows="charts" />
          )}
          <RowsDialog board={board} />
          <ReviewRowsDialog />
        </>
      )}
    </>
  );
}

/** The period of the throughput and of the reviews. */
function Periods() {
  return (
    <fieldset class="periods">
      <legend class="aside">Period</legend>
      {PERIODS.map((one) => (
        <label key={one.days}>
          <input
            type="radio"
            name="period"
            checked={period.value === one}
            onChange={() => {
              insightsState.value = { ...insightsState.value, period: String(one.days) };
            }}
          />
          {one.name}
        </label>
      ))}
    </fieldset>
  );
}

function Charts({ board }: { readonly board: Board }) {
  const issues = board.issues.filter(isOrdinary);
  return (
    <div class="charts">
      <ThroughputFigure key={boardOwner.value} />
      <Reviews key={`reviews ${boardOwner.value}`} board={board} />
      <BarChart
        onShow={(bar, part) => showRows('ci', bar.label, part)}
        title="CI by repository"
        bars={groupCiByRepository(board.pullRequests)}
        parts={CI_PARTS}
        kinds={['good', 'wait', 'bad', 'none']}
      />
      <BarChart
        onShow={(bar, part) => showRows('issues', bar.label, part)}
        title="Issues by repository"
        bars={groupIssuesByRepository(issues)}
        parts={['Open']}
        kinds={['plain']}
      />
      <BarChart
        onShow={(bar, part) => showRows('age', bar.label, part)}
        title="Pull request age"
        bars={groupByAge(board.pullRequests)}
        parts={['Open']}
        kinds={['plain']}
      />
      <BarChart
        onShow={(bar) => showRows('issue-age', bar.label)}
        title="Issue age"
        bars={groupByAge(issues)}
        parts={['Open']}
        kinds={['plain']}
      />
      <ApiQuotas budgets={listApiQuotas(board)} />
    </div>
  );
}

/** A gauge for each API quota of each forge, with all quotas as a table. */
function ApiQuotas({ budgets }: { readonly budgets: readonly ApiQuota[] }) {
  return (
    <figure class="chart whole" aria-labelledby="budgets">
      <figcaption>
        <h2 id="budgets">API quotas</h2>
      </figcaption>
      {budgets.length === 0 ? (
        <NoData text="No code host has reported an API quota yet." />
      ) : (
        <>
          <div class="gauges">
            {budgets.map((budget) => (
              <Gauge key={budget.name} budget={budget} />
            ))}
          </div>
          <BudgetTable budgets={budgets} />
        </>
      )}
    </figure>
  );
}

/** The shares of a quota below which the severity rises. */
const MARKS = [0.05, 0.2];

function Gauge({ budget }: { readonly budget: ApiQuota }) {
  const { name, limit, remaining, resetsAt, severity, cost } = budget;
  return (
    <section class={`gauge ${severity}`} aria-label={name}>
      <h3>{name}</h3>
      <p class="left">
        <strong>{remaining.toLocaleString()}</strong> of {limit.toLocaleString()} left
      </p>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width={100} height={8} />
        <rect class="rest" width={limit === 0 ? 0 : (100 * remaining) / limit} height={8} />
        {MARKS.map((mark) => (
          <line key={mark} x1={100 * mark} x2={100 * mark} y1={0} y2={8} />
        ))}
      </svg>
      <p class="state">{SEVERITY_NAMES[severity]}</p>
      <Reset at={Date.parse(resetsAt)} />
      {cost !== undefined && (
        <p class="quiet">
          The last refresh used {cost.toLocaleString()} {cost === 1 ? 'point' : 'points'}.
        </p>
      )}
    </section>
  );
}

/** When a quota is reset, with a countdown that is hidden from screen readers. */
function Reset({ at }: { readonly at: number }) {
  if (at <= serverNow()) return <p class="quiet">Reset at {formatTime(at)}; updated at the next refresh.</p>;
  return (
    <p class="quiet">
      Resets at <time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
      <Countdown until={at} />
    </p>
  );
}

function BudgetTable({ budgets }: { readonly budgets: readonly ApiQuota[] }) {
  return (
    <ChartTable title="API quotas" names={['Quota', 'Left', 'Limit', 'Status', 'Resets', 'Last refresh']}>
      {budgets.map(({ name, limit, remaining, resetsAt, severity, cost }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{remaining.toLocaleString()}</td>
          <td>{limit.toLocaleString()}</td>
          <td>{SEVERITY_NAMES[severity]}</td>
          <td>{formatTime(Date.parse(resetsAt))}</td>
          <td>{cost === undefined ? 'unknown' : cost.toLocaleString()}</td>
        </tr>
      ))}
    </ChartTable>
  );
}

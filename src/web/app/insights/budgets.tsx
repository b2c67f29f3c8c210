import { Countdown } from '../shell/countdown.js';
import { toTime } from '../shell/times.js';
import { AsTable } from './as-table.js';
import { SEVERITIES } from './figures.js';
import type { Budget } from './figures.js';

/** A gauge for each budget of each forge, with what it means, and all of them as a table. */
export function Budgets({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <figure class="chart whole" aria-labelledby="budgets">
      <figcaption>
        <h2 id="budgets">What forges still give</h2>
      </figcaption>
      {budgets.length === 0 ? (
        <p class="quiet">No forge has said how many requests it takes.</p>
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

/** Where colours change: below these shares, refreshes come to an end soon. */
const MARKS = [0.05, 0.2];

function Gauge({ budget }: { readonly budget: Budget }) {
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
      <p class="state">{SEVERITIES[severity]}</p>
      <Reset at={Date.parse(resetsAt)} />
      {cost !== undefined && (
        <p class="quiet">
          The last refresh cost {cost.toLocaleString()} {cost === 1 ? 'point' : 'points'}.
        </p>
      )}
    </section>
  );
}

/** Says when, which holds; how long that is counts down beside it, for eyes alone. */
function Reset({ at }: { readonly at: number }) {
  if (at <= Date.now()) return <p class="quiet">Whole again since {toTime(at)}; the next refresh tells.</p>;
  return (
    <p class="quiet">
      Whole again at <time dateTime={new Date(at).toISOString()}>{toTime(at)}</time>
      <Countdown until={at} />
    </p>
  );
}

function BudgetTable({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <AsTable title="What forges still give" names={['Budget', 'Left', 'Of', 'State', 'Whole again', 'Last refresh']}>
      {budgets.map(({ name, limit, remaining, resetsAt, severity, cost }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>{remaining.toLocaleString()}</td>
          <td>{limit.toLocaleString()}</td>
          <td>{SEVERITIES[severity]}</td>
          <td>{toTime(Date.parse(resetsAt))}</td>
          <td>{cost === undefined ? 'unknown' : cost.toLocaleString()}</td>
        </tr>
      ))}
    </AsTable>
  );
}

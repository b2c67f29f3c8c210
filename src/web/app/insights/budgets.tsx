import { toAge } from '../shell/age.js';
import type { Budget } from './figures.js';

/** A gauge for each budget; the browser's own, which screen readers know. */
export function Budgets({ budgets }: { readonly budgets: readonly Budget[] }) {
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">What forges still give</h2>
      {budgets.length === 0 && <p class="quiet">No forge has said.</p>}
      <table>
        <thead class={budgets.length === 0 ? 'aside' : ''}>
          <tr>
            <th scope="col">Budget</th>
            <th scope="col">Left</th>
            <th scope="col">Whole again</th>
          </tr>
        </thead>
        <tbody>
          {budgets.map(({ name, limit, remaining, resetsAt, severity }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class={severity === 'ok' ? '' : 'bad'}>
                <meter min={0} max={limit} low={limit * 0.05} high={limit * 0.2} optimum={limit} value={remaining}>
                  {remaining} of {limit}
                </meter>{' '}
                {remaining} of {limit}
              </td>
              <td>
                <time dateTime={resetsAt}>{toAge(resetsAt)}</time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

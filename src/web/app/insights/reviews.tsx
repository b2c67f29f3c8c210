import { useCallback, useId, useState } from 'preact/hooks';
import { dashboardClient, requireData } from '../api.js';
import { boardOwner, newestBoard } from '../board/data/board-store.js';
import { type Board, FORGE_NAMES, formatRepository, formatRepositoryName } from '../board/data/rows.js';
import { ActionButton } from '../ui/buttons.js';
import { Select } from '../ui/form.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, EmptyState, useResource } from '../ui/resource.js';
import { Bars } from './bar-chart.js';
import { insightsState, MAX_BARS, period, showReviewRows } from './chart-data.js';
import {
  type Distribution,
  formatSpan,
  MEASURE_TEXTS,
  type ReviewInsights,
  type ReviewMeasure,
  type ReviewRow,
  type ReviewScope,
  splitForge,
  toExportAddress,
  toRangeBars,
  toReviewScope,
} from './reviews-data.js';

interface LoadedReviews {
  readonly insights: ReviewInsights;
  /** The slow pull requests that have waited longest. */
  readonly slow: readonly ReviewRow[];
  readonly scope: ReviewScope;
}

/** More of them are in the dialog. */
const MAX_SLOW = 5;

/** Review times, review load and slow pull requests, loaded again with every new board. */
export function Reviews({ board }: { readonly board: Board }) {
  const [owner, days, at] = [boardOwner.value, period.value.days, newestBoard.value?.generatedAt];
  const { repository } = insightsState.value;
  const scope = toReviewScope({ days, owner, repository });
  const load = useCallback(
    () => loadReviews(scope),
    // Histories are read after a refresh.
    [owner, days, repository, at],
  );
  const { value, ...reviews } = useResource(load);
  // After a failed request, figures of a different period or repository would be misleading.
  const isOutdated = reviews.problem !== undefined && JSON.stringify(value?.scope) !== JSON.stringify(scope);
  return (
    <section class="reviews" aria-labelledby="reviews">
      <div class="reviews-head">
        <div>
          <h2 id="reviews">Reviews</h2>
          <p class="quiet">
            The last {scope.days} days{days > scope.days && ' (review times are not stored for longer)'}. Nights and
            weekends count; pull requests and reviews of bots don’t.
          </p>
        </div>
        <RepositoryFilter board={board} />
      </div>
      <AsyncContent from={{ ...reviews, value: isOutdated ? undefined : value }}>
        {(loaded) => <Loaded {...loaded} board={board} reload={reviews.reload} />}
      </AsyncContent>
    </section>
  );
}

async function loadReviews(scope: ReviewScope): Promise<LoadedReviews> {
  const insights = requireData(await dashboardClient.GET('/api/insights/reviews', { params: { query: scope } }));
  const { slow } = insights;
  if (slow === undefined || slow.count === 0) return { insights, slow: [], scope };
  const query = { ...scope, measure: 'waiting', atLeastSeconds: slow.atLeastSeconds, limit: MAX_SLOW } as const;
  const rows = requireData(await dashboardClient.GET('/api/insights/reviews/rows', { params: { query } }));
  return { insights, slow: rows, scope };
}

const selectRepository = (repository: string): void =>
  void (insightsState.value = { ...insightsState.value, repository });

function RepositoryFilter({ board }: { readonly board: Board }) {
  const { repository } = insightsState.value;
  const known = board.repos
    .map((repo) => [`${repo.forge}/${repo.fullName}`, formatRepositoryName(repo)] as const)
    .sort(([, a], [, b]) => a.localeCompare(b));
  const isKnown = repository === '' || known.some(([value]) => value === repository);
  const [forge, repo] = splitForge(repository) ?? [];
  const name = forge === undefined || repo === undefined ? repository : formatRepository({ forge, repo });
  return (
    <Select
      label="Repository"
      value={repository}
      options={[['', 'All'], ...(isKnown ? [] : [[repository, name] as const]), ...known]}
      onValue={selectRepository}
    />
  );
}

interface LoadedProps extends LoadedReviews {
  readonly board: Board;
  readonly reload: () => Promise<void>;
}

function Loaded({ insights, slow, scope, board, reload }: LoadedProps) {
  const { measures, readAt, reviewers, repositories, unreadRepositories } = insights;
  const find = (name: ReviewMeasure['measure']) => measures.find(({ measure }) => measure === name);
  if (readAt === undefined || measures.every(({ samples }) => samples === 0)) {
    return <NoReviews {...{ insights, scope, board, reload }} />;
  }
  return (
    <>
      {unreadRepositories > 0 && (
        <p class="notes">
          The history of {countRepositories(unreadRepositories)} is still to be read, so some pull requests are missing.
        </p>
      )}
      <Slow insights={insights} rows={slow} />
      <div class="reviews-charts">
        {(['first_review', 'cycle'] as const).map((name) => (
          <Measure key={name} measured={find(name)} scope={scope} level="h3" />
        ))}
      </div>
      <div class="phases-head">
        <h3>Phases of the cycle time</h3>
        <p class="quiet">Pull requests that were merged in the period.</p>
      </div>
      <div class="reviews-charts phases">
        {(['review_wait', 'in_review', 'merge_wait'] as const).map((name) => (
          <Measure key={name} measured={find(name)} scope={scope} level="h4" />
        ))}
      </div>
      <div class="reviews-charts">
        <Load reviewers={reviewers} />
        {scope.repo === undefined && <ByRepository repositories={repositories} />}
      </div>
    </>
  );
}

const countRepositories = (count: number): string =>
  count === 1 ? '1 repository' : `${count.toLocaleString()} repositories`;

/** Explains why there are no review times, with the next step. */
function NoReviews({ insights, scope, board, reload }: Omit<LoadedProps, 'slow'>) {
  const { readAt, unreadRepositories } = insights;
  const isOwn = boardOwner.value === '';
  if (board.forges.length === 0 && isOwn) {
    const link = (
      <a class="button main" href="/settings">
        Connect GitHub, GitLab or Forgejo
      </a>
    );
    return <EmptyState icon="review" text="Connect a code host to measure reviews." next={link} />;
  }
  if (unreadRepositories > 0) {
    const text = `The history of ${countRepositories(unreadRepositories)} is still to be read. This happens after each refresh, while enough of the API quota is left.`;
    return <EmptyState icon="clock" text={text} next={<ActionButton onAct={reload}>Check again</ActionButton>} />;
  }
  if (readAt !== undefined) {
    const all = scope.repo !== undefined && (
      <button type="button" onClick={() => selectRepository('')}>
        Show all repositories
      </button>
    );
    return <EmptyState icon="review" text={`No reviews or merges in the last ${scope.days} days.`} next={all} />;
  }
  const link = isOwn && <a href="/settings">Check the credentials</a>;
  return (
    <EmptyState
      icon="review"
      text="No repository has a history. Only those that you can write to have one."
      next={link}
    />
  );
}

/** The open pull requests that wait longer than three quarters of the others did. */
function Slow({ insights, rows }: { readonly insights: ReviewInsights; readonly rows: readonly ReviewRow[] }) {
  const { slow } = insights;
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Slow now</h3>
      </figcaption>
      {slow === undefined && (
        <p class="quiet">Too few first reviews in this period to find slow pull requests: at least 5 are needed.</p>
      )}
      {slow?.count === 0 && (
        <p class="quiet">
          No open pull request has waited {formatSpan(slow.atLeastSeconds)} for a first review. Three quarters of the
          others were reviewed within this time.
        </p>
      )}
      {slow !== undefined && slow.count > 0 && (
        <>
          <p class="quiet">
            These wait for a first review longer than three quarters of the others did (
            {formatSpan(slow.atLeastSeconds)}
            ).
          </p>
          <ul class="slow">
            {rows.map((row) => (
              <li key={row.url}>
                <strong>{row.seconds !== undefined && formatSpan(row.seconds)}</strong>
                <span>
                  <a href={row.url} target="_blank" rel="noreferrer">
                    <bdi>{row.title}</bdi>
                  </a>{' '}
                  <span class="quiet">
                    <bdi>{row.repo}</bdi> #{row.number} · <bdi>{row.author}</bdi>
                  </span>
                </span>
              </li>
            ))}
          </ul>
          <p class="acts">
            <button
              type="button"
              aria-haspopup="dialog"
              onClick={() => showReviewRows({ measure: 'waiting', atLeastSeconds: String(slow.atLeastSeconds) })}
            >
              {slow.count > rows.length ? `Show all ${slow.count} slow pull requests` : 'Show as rows'}
            </button>
          </p>
        </>
      )}
    </figure>
  );
}

interface MeasureProps {
  readonly measured: ReviewMeasure | undefined;
  readonly scope: ReviewScope;
  readonly level: 'h3' | 'h4';
}

/** The percentiles and the histogram of a measure. */
function Measure({ measured, scope, level: Title }: MeasureProps) {
  const id = useId();
  if (measured === undefined) return null;
  const { measure, samples } = measured;
  const { title, help } = MEASURE_TEXTS[measure];
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <Title id={id}>{title}</Title>
      </figcaption>
      <p class="quiet">{help}</p>
      {samples === 0 ? (
        <p class="quiet">No samples in this period.</p>
      ) : (
        <>
          <Percentiles of={measured} />
          <Bars
            title={title}
            labelled="Time"
            bars={toRangeBars(measured)}
            parts={['Pull requests']}
            kinds={['plain']}
            onShow={({ fromSeconds, belowSeconds }) =>
              showReviewRows({
                measure,
                atLeastSeconds: fromSeconds === 0 ? '' : String(fromSeconds),
                belowSeconds: String(belowSeconds ?? ''),
              })
            }
          />
          <p class="acts">
            <button
              type="button"
              aria-label={`${title}: show all rows`}
              aria-haspopup="dialog"
              onClick={() => showReviewRows({ measure })}
            >
              Show all rows
            </button>
            <a
              class="button"
              aria-label={`Export rows as CSV: ${title}`}
              href={toExportAddress({ ...scope, measure })}
              download
            >
              Export rows as CSV
            </a>
          </p>
        </>
      )}
    </figure>
  );
}

function Percentiles({
  of: { samples, fewSamples, medianSeconds, p75Seconds, p90Seconds },
}: {
  readonly of: Distribution;
}) {
  const figures = [
    ['Median', medianSeconds],
    ['75 % within', p75Seconds],
    ['90 % within', p90Seconds],
  ] as const;
  return (
    <>
      <dl class="percentiles">
        {figures.map(
          ([name, seconds]) =>
            seconds !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{formatSpan(seconds)}</dd>
              </div>
            ),
        )}
        <div>
          <dt>Samples</dt>
          <dd>{samples.toLocaleString()}</dd>
        </div>
      </dl>
      {fewSamples && <p class="quiet">Too few samples for percentiles: at least 5 are needed.</p>}
    </>
  );
}

const formatMedian = ({ medianSeconds }: Distribution): string =>
  medianSeconds === undefined ? 'none' : formatSpan(medianSeconds);

type Reviewers = ReviewInsights['reviewers'];

/** Reviews by person. */
function Load({ reviewers }: { readonly reviewers: Reviewers }) {
  const id = useId();
  const [isWhole, setWhole] = useState(false);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Review load</h3>
      </figcaption>
      <p class="quiet">Requests of teams are not counted. The wait is the median from a request to its review.</p>
      {reviewers.length === 0 ? (
        <p class="quiet">No review was requested or given in this period.</p>
      ) : (
        <div class="wide" tabIndex={0} role="region" aria-label="Review load, data">
          <table>
            <caption class="aside">Review load</caption>
            <TableHead names={['Person', 'Requested', 'Given', 'Pending', 'Wait']} />
            <tbody>
              {(isWhole ? reviewers : reviewers.slice(0, MAX_BARS)).map((one) => (
                <Reviewer key={`${one.forge} ${one.login}`} {...one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {reviewers.length > MAX_BARS && (
        <p class="acts">
          <button type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Show fewer people' : `Show all ${reviewers.length} people`}
          </button>
        </p>
      )}
    </figure>
  );
}

function Reviewer({ forge, login, wait, ...counts }: Reviewers[number]) {
  return (
    <tr>
      <th scope="row">
        <bdi>{login}</bdi> <span class="quiet">{FORGE_NAMES[forge]}</span>
      </th>
      {(['requested', 'given', 'pending'] as const).map((measure) => (
        <td key={measure}>
          {counts[measure] === 0 ? (
            0
          ) : (
            <button
              type="button"
              class="plain figure"
              aria-label={`${login}, ${measure}: ${counts[measure]}. Show the rows`}
              aria-haspopup="dialog"
              onClick={() => showReviewRows({ measure, reviewer: `${forge}/${login}` })}
            >
              {counts[measure].toLocaleString()}
            </button>
          )}
        </td>
      ))}
      <td>{formatMedian(wait)}</td>
    </tr>
  );
}

/** The medians of each repository, which lead to its reviews. */
function ByRepository({ repositories }: Pick<ReviewInsights, 'repositories'>) {
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Reviews by repository</h3>
      </figcaption>
      <p class="quiet">The medians, and how many open pull requests wait for a first review.</p>
      <div class="wide" tabIndex={0} role="region" aria-label="Reviews by repository, data">
        <table>
          <caption class="aside">Reviews by repository</caption>
          <TableHead names={['Repository', 'First review', 'Cycle', 'Waiting']} />
          <tbody>
            {repositories.slice(0, MAX_BARS).map(({ forge, repo, firstReview, cycle, waiting }) => (
              <tr key={`${forge} ${repo}`}>
                <th scope="row">
                  <button type="button" class="plain figure" onClick={() => selectRepository(`${forge}/${repo}`)}>
                    <bdi>{formatRepository({ forge, repo })}</bdi>
                  </button>
                </th>
                <td>{formatMedian(firstReview)}</td>
                <td>{formatMedian(cycle)}</td>
                <td>{waiting.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {repositories.length > MAX_BARS && (
        <p class="quiet">+{repositories.length - MAX_BARS} more in the filter by repository.</p>
      )}
    </figure>
  );
}

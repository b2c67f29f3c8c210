import { describeProblem, type Problem } from '../api.js';
import { CopyButton } from './buttons.js';

/** An error message, with a button that copies the id of the request for a report to the admin. */
export function ProblemText({ problem }: { readonly problem: Problem }) {
  const { requestId } = problem;
  return (
    <>
      {describeProblem(problem)}
      {requestId !== undefined && (
        <>
          {' '}
          <CopyButton value={requestId} what="the request ID" />
        </>
      )}
    </>
  );
}

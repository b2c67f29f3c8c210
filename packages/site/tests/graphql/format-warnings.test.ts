import { listFormatWarnings } from '../../src/graphql/stored-queries.js';
import { findFormatConflict } from '../../src/query/dates.js';

test.each([
  ['DD', { luxon: 'Feb 3, 2019', moment: '03' }],
  ['Qo', { luxon: 'Q34', moment: '1st' }],
  ['LL, HH:mm', { luxon: '02, 04:05', moment: 'February 3, 2019, 04:05' }],
  ['MMMM d', { luxon: 'February 3', moment: 'February 0' }],
])('the format %j is read by Luxon, and differently by Moment', (format, conflict) => {
  expect(findFormatConflict(format)).toEqual(conflict);
});

test.each(['YYYY-MM-DD', 'yyyy-MM-dd', 'HH:mm', 'MMMM', 'ff', "'on' d LLL", 'dd LLL yyyy', 'LL', '[at] DD', ''])(
  'the format %j has one meaning',
  (format) => {
    expect(findFormatConflict(format)).toBeUndefined();
  },
);

test('each format of a stored query is reported once, with its line', () => {
  const text = `query ($format: String = "DD") {
  allFile {
    nodes {
      mtime(formatString: $format)
      atime: accessTime(formatString: "Qo")
      again: accessTime(formatString: "Qo")
      fine: accessTime(formatString: "YYYY")
    }
  }
}`;
  const warnings = listFormatWarnings([
    { file: 'queries/files.graphql', text, variables: [{ format: 'w d' }, {}] },
    { file: 'queries/broken.graphql', text: '{', variables: [{}] },
  ]);
  expect(warnings.map((warning) => warning.slice(0, 50))).toEqual([
    'queries/files.graphql:5: The date format "Qo" is r',
    'queries/files.graphql:4: The date format "DD" is r',
    'queries/files.graphql:4: The date format "w d" is ',
  ]);
  expect(warnings[1]).toContain(
    `read with Luxon's tokens and returns "Feb 3, 2019"; with Moment's it would return "03".`,
  );
});

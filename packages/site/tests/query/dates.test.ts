import { createFormatDate } from '../../src/query/dates.js';

const NOW = Date.parse('2020-03-01T00:00:00.000Z');
const DAY = '2019-04-04T05:06:07.089Z';
const format = createFormatDate({ now: () => NOW });

describe('formatString', () => {
  test.each([
    ['YYYY-MM-DD', '2019-04-04'],
    ['yyyy-MM-dd', '2019-04-04'],
    ['dd.MM', 'Th.04'],
    ['MMMM Do, YYYY', 'April 4th, 2019'],
    ['dddd ddd dd d', 'Thursday Thu Th 4'],
    ['[on] D MMM', 'on 4 Apr'],
    ["'on' d LLL", 'on 4 Apr'],
    ['HH:mm:ss.SSS A Y', '05:06:07.089 AM 2019'],
    ['h:mm a [Z] Z ZZ', '5:06 am Z +00:00 +0000'],
    ['w ww W WW E e d gg GGGG Q DDD DDDD', '14 14 14 14 4 4 4 19 2019 2 94 094'],
    ['LLLL', 'Thursday, April 4, 2019 5:06 AM'],
    ['ll', 'Apr 4, 2019'],
    ['L', '04/04/2019'],
    ['LLLL yyyy', 'April 2019'],
    ['X x YY', '1554354367 1554354367089 19'],
  ])('%s produces %s', (formatString, expected) => {
    expect(format(DAY, { formatString })).toBe(expected);
  });

  test.each([
    ['2020-12-23T00:00:00Z', '52 52 52 52 3 3 3 20 2020 4 358 358'],
    ['2014-11-30T00:00:00Z', '49 49 48 48 7 0 0 14 2014 4 334 334'],
    ['2023-09-01T00:00:00Z', '35 35 35 35 5 5 5 23 2023 3 244 244'],
  ])('uses English week numbers for %s', (date, expected) => {
    expect(format(date, { formatString: 'w ww W WW E e d gg GGGG Q DDD DDDD' })).toBe(expected);
  });

  test.each([
    ['de', 'Donnerstag, 4. April 2019'],
    ['xx', 'Thursday, 4. April 2019'],
    ['', 'Thursday, 4. April 2019'],
    ['not a locale', 'Thursday, 4. April 2019'],
  ])('uses the locale %j or English', (locale, expected) => {
    expect(format(DAY, { formatString: 'dddd, D. MMMM YYYY', locale })).toBe(expected);
  });

  // As Moment 2.30 with its locales.
  test.each([
    ['ru', 'D MMMM YYYY', '9 февраля 2024'],
    ['ru', 'MMMM YYYY', 'февраль 2024'],
    ['ru', 'MMMM', 'февраль'],
    ['pl', 'dddd, D MMMM', 'piątek, 9 lutego'],
    ['cs', '[v] MMMM [D]', 'v únor D'],
    ['lt', 'MMMM D', 'vasario 9'],
    ['ja', 'YYYY年 MMMM', '2024年 2月'],
    ['ja', 'MMM', '2月'],
    ['ja', 'Do', '9日'],
    ['ko', 'MMM Do', '2월 9일'],
    ['tr', 'Do MMMM', '9 Şubat'],
    ['pl', 'Do', '9.'],
    ['it', 'Do', '9º'],
    ['fa', 'MMMM YYYY', 'فوریه ۲۰۲۴'],
    ['th', 'LL', '9 กุมภาพันธ์ 2024'],
    ['de', 'LT', '07:05'],
    ['de', 'LTS', '07:05:03'],
    ['fr', '[à] h:mm a', 'à 7:05 am'],
    ['en', 'YYYYY', '02024'],
  ])('writes a date in the language %s with %j as %j', (locale, formatString, expected) => {
    expect(format('2024-02-09T07:05:03Z', { formatString, locale })).toBe(expected);
  });

  test.each([
    ['lt', '9 vasaris'],
    ['bg', '9 февруари'],
  ])('writes the name of a month for the language %s, whose short name is a number', (locale, expected) => {
    expect(format('2024-02-09', { formatString: 'D MMM', locale })).toBe(expected);
  });

  test.each([
    ['2019-04-21', '111th'],
    ['2019-04-22', '112th'],
    ['2019-05-01', '121st'],
    ['2019-08-01', '213th'],
    ['2019-11-18', '322nd'],
  ])('ends the number of the day of %s in the year as %s', (date, expected) => {
    expect(format(date, { formatString: 'DDDo' })).toBe(expected);
  });

  test('uses the configured dialect', () => {
    expect(createFormatDate({ dialect: 'moment' })(DAY, { formatString: 'D' })).toBe('4');
    expect(createFormatDate({ dialect: 'luxon' })(DAY, { formatString: 'dd' })).toBe('04');
  });
});

test.each([
  ['2019', '2019-01-01 00:00'],
  ['2019-04', '2019-04-01 00:00'],
  ['2019-W14-4', '2019-04-04 00:00'],
  ['2019-094', '2019-04-04 00:00'],
  ['20190404', '2019-04-04 00:00'],
  ['2019-04-04 05:06', '2019-04-04 05:06'],
  ['2019-04-04T05:06+02:00', '2019-04-04 03:06'],
  ['8000', '8000-01-01 00:00'],
  ['2019-02-30', 'Invalid date'],
  ['05:06', 'Invalid date'],
  ['soon', 'Invalid date'],
  ['', 'Invalid date'],
])('parses %j as %s', (date, expected) => {
  expect(format(date, { formatString: 'YYYY-MM-DD HH:mm' })).toBe(expected);
});

test.each([
  ['days', '2020-02-28T12:00:00Z', '1'],
  ['day', '2020-02-28', '2'],
  ['Months', '2019-04-04', '10'],
  ['M', '2019-04-04', '10'],
  ['m', '2020-02-29T23:00:00Z', '60'],
  ['years', '2021-06-01', '-1'],
  ['days', '2020-03-01T12:00:00Z', '0'],
  ['Y', '2018-01-01', '2'],
  ['ms', '2020-02-29T23:59:59Z', '1000'],
  ['fortnights', '2020-02-29T23:59:59Z', '1000'],
  ['constructor', '2020-02-29T23:59:59Z', '1000'],
  ['__proto__', '2020-02-29T23:59:59Z', '1000'],
])('difference returns the whole %s from %s to now', (difference, date, expected) => {
  expect(format(date, { difference })).toBe(expected);
});

test.each([
  ['fromNow', { fromNow: true }, '1 day ago'],
  ['fromNow in a locale', { fromNow: true, locale: 'de' }, 'vor 1 Tag'],
  ['formatString takes precedence over fromNow', { formatString: 'YYYY', fromNow: true, difference: 'days' }, '2020'],
  ['fromNow takes precedence over difference', { fromNow: true, difference: 'days' }, '1 day ago'],
  ['no argument returns the stored text', {}, '2020-02-29T00:00:00.000Z'],
  [
    'empty text and false count as absent',
    { formatString: '', fromNow: false, difference: '' },
    '2020-02-29T00:00:00.000Z',
  ],
  ['locale alone has no effect', { locale: 'de' }, '2020-02-29T00:00:00.000Z'],
])('%s', (_reason, args, expected) => {
  expect(format('2020-02-29T00:00:00.000Z', args)).toBe(expected);
});

test('maps lists, keeps null and reports invalid dates', () => {
  expect(format(['2019', null], { formatString: 'YYYY' })).toEqual(['2019', null]);
  expect(format(null, { formatString: 'YYYY' })).toBeNull();
  expect(format('soon', { difference: 'days' })).toBeNull();
  expect(format('soon', { fromNow: true })).toBe('Invalid date');
});

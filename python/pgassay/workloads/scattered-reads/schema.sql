-- 100 000 measurements, 16 MB with both indexes, for each unit of scale. Each sensor has about 1000 of
-- them, in the order of chance, so that every one of them lies on another page. Each measurement names
-- an earlier one, also by chance.
CREATE TABLE measurement (
    id        int    NOT NULL,
    sensor    int    NOT NULL,
    reference int    NOT NULL,
    value     float8 NOT NULL,
    note      text   NOT NULL
);

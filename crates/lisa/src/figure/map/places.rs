//! Places of the nodes of a map on the page.

use topology::Place;

use crate::figure::canvas::Area;

/// Least distance of two nodes, pixels.
const APART: f64 = 17.0;
/// Rounds in which nodes that are too near to each other move apart.
const ROUNDS: usize = 60;
/// Largest number of nodes that are moved: each round compares all pairs.
const MOST_MOVED: usize = 600;

/// A place in a plane whose units are equal in both directions; `y` grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Points of the nodes in a plane. A node without a place is between its neighbours.
pub struct Plane {
    points: Vec<Point>,
    /// Number of nodes without a place.
    pub unknown: usize,
}

impl Plane {
    /// The plane of these places; none if no node has one. `neighbours` has the neighbours of each node.
    pub fn new(places: &[Option<Place>], neighbours: &[Vec<usize>]) -> Option<Self> {
        let is_globe = |place: &&Place| matches!(place, Place::Globe { .. });
        let globe = places.iter().flatten().any(|place| is_globe(&place));
        // Degrees and coordinates of a plane have nothing in common: those of the globe count.
        let known: Vec<Option<Place>> = (places.iter())
            .map(|place| place.filter(|place| is_globe(&place) == globe))
            .collect();
        let west = west(&known);
        let latitudes: Vec<f64> = (known.iter().flatten())
            .filter_map(|place| match place {
                Place::Globe { latitude, .. } => Some(*latitude),
                Place::Plane { .. } => None,
            })
            .collect();
        let middle = latitudes.iter().sum::<f64>() / latitudes.len().max(1) as f64;
        let shrink = middle.to_radians().cos().max(0.1);
        let mut points: Vec<Option<Point>> = (known.iter())
            .map(|place| {
                place.map(|place| match place {
                    Place::Globe {
                        longitude,
                        latitude,
                    } => Point {
                        x: (longitude - west).rem_euclid(360.0) * shrink,
                        y: -latitude,
                    },
                    Place::Plane { x, y } => Point { x, y },
                })
            })
            .collect();
        points.iter().flatten().next()?;
        let unknown = points.iter().filter(|point| point.is_none()).count();
        between_neighbours(&mut points, neighbours);
        let points = points.into_iter().flatten().collect();
        Some(Self { points, unknown })
    }

    /// Width and height.
    fn extent(&self) -> (Point, Point) {
        let fold = |part: fn(&Point) -> f64, first: f64, pick: fn(f64, f64) -> f64| {
            self.points.iter().map(part).fold(first, pick)
        };
        let least = Point {
            x: fold(|p| p.x, f64::INFINITY, f64::min),
            y: fold(|p| p.y, f64::INFINITY, f64::min),
        };
        let most = Point {
            x: fold(|p| p.x, f64::NEG_INFINITY, f64::max),
            y: fold(|p| p.y, f64::NEG_INFINITY, f64::max),
        };
        (least, most)
    }

    /// Height of a page of this width on which the map has its own proportions, within limits.
    pub fn height(&self, width: f64, limits: (f64, f64)) -> f64 {
        let (least, most) = self.extent();
        let ratio = (most.y - least.y) / (most.x - least.x).max(1e-9);
        (width * ratio).clamp(limits.0, limits.1)
    }

    /// Points of the nodes in an area of the page. Nodes at one place stand beside each other.
    pub fn fitted(&self, area: Area) -> Vec<Point> {
        let (least, most) = self.extent();
        let span = |low: f64, high: f64| (high - low).max(1e-9);
        let scale = (area.width / span(least.x, most.x)).min(area.height / span(least.y, most.y));
        let centre = Point {
            x: area.x + area.width / 2.0,
            y: area.y + area.height / 2.0,
        };
        let mut points: Vec<Point> = (self.points.iter())
            .map(|point| Point {
                x: centre.x + (point.x - (least.x + most.x) / 2.0) * scale,
                y: centre.y + (point.y - (least.y + most.y) / 2.0) * scale,
            })
            .collect();
        if points.len() <= MOST_MOVED {
            move_apart(&mut points, area);
        }
        points
    }
}

/// The longitude after the widest gap without nodes: the map begins there.
fn west(places: &[Option<Place>]) -> f64 {
    let mut longitudes: Vec<f64> = (places.iter().flatten())
        .filter_map(|place| match place {
            Place::Globe { longitude, .. } => Some(*longitude),
            Place::Plane { .. } => None,
        })
        .collect();
    longitudes.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (longitudes.first(), longitudes.last()) else {
        return 0.0;
    };
    // The gap over the 180th meridian comes first: of equal gaps it remains.
    let mut widest = (first + 360.0 - last, *first);
    for pair in longitudes.windows(2) {
        if pair[1] - pair[0] > widest.0 {
            widest = (pair[1] - pair[0], pair[1]);
        }
    }
    widest.1
}

/// Places nodes without a point at the mean of their neighbours, from the known points outwards; others below the map's middle.
fn between_neighbours(points: &mut [Option<Point>], neighbours: &[Vec<usize>]) {
    let mean = |found: &[Point]| {
        let number = found.len() as f64;
        Point {
            x: found.iter().map(|point| point.x).sum::<f64>() / number,
            y: found.iter().map(|point| point.y).sum::<f64>() / number,
        }
    };
    let all: Vec<Point> = points.iter().flatten().copied().collect();
    let middle = mean(&all);
    loop {
        let placed: Vec<(usize, Point)> = (0..points.len())
            .filter(|node| points[*node].is_none())
            .filter_map(|node| {
                let near = neighbours[node].iter().filter_map(|other| points[*other]);
                let near: Vec<Point> = near.collect();
                (!near.is_empty()).then(|| (node, mean(&near)))
            })
            .collect();
        if placed.is_empty() {
            break;
        }
        for (node, point) in placed {
            points[node] = Some(point);
        }
    }
    for point in points.iter_mut().filter(|point| point.is_none()) {
        *point = Some(middle);
    }
}

/// Moves points apart that are nearer than [`APART`], within the area.
fn move_apart(points: &mut [Point], area: Area) {
    // Equal points get directions of their own, by the golden angle.
    for (number, point) in points.iter_mut().enumerate() {
        let angle = 2.399_963 * number as f64;
        point.x += 0.5 * angle.cos();
        point.y += 0.5 * angle.sin();
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for one in 0..points.len() {
            for other in one + 1..points.len() {
                let (dx, dy) = (
                    points[other].x - points[one].x,
                    points[other].y - points[one].y,
                );
                let distance = dx.hypot(dy).max(1e-6);
                if distance < APART {
                    let push = (APART - distance) / 2.0 / distance;
                    points[one].x -= dx * push;
                    points[one].y -= dy * push;
                    points[other].x += dx * push;
                    points[other].y += dy * push;
                    moved = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    for point in points {
        point.x = point.x.clamp(area.x, area.right());
        point.y = point.y.clamp(area.y, area.bottom());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globe(longitude: f64, latitude: f64) -> Option<Place> {
        Some(Place::Globe {
            longitude,
            latitude,
        })
    }

    /// Fiji and Samoa are 5 degrees apart over the 180th meridian, not 355.
    #[test]
    fn a_map_begins_after_its_widest_gap() {
        assert_eq!(west(&[globe(177.0, 0.0), globe(-178.0, 0.0)]), 177.0);
        assert_eq!(
            west(&[globe(5.0, 0.0), globe(10.0, 0.0), globe(-3.0, 0.0)]),
            -3.0
        );
    }

    #[test]
    fn nodes_without_a_place_are_between_their_neighbours() {
        let places = [globe(0.0, 0.0), None, globe(10.0, 0.0), None, None];
        let neighbours = [vec![1], vec![0, 2, 3], vec![1], vec![1], vec![]];
        let plane = Plane::new(&places, &neighbours).unwrap();
        assert_eq!(
            (plane.unknown, plane.points[1]),
            (3, Point { x: 5.0, y: 0.0 })
        );
        assert_eq!(plane.points[3], plane.points[1]);
        assert!(Plane::new(&[None], &[vec![]]).is_none());
    }

    #[test]
    fn nodes_at_one_place_stand_beside_each_other_in_the_area() {
        let places = vec![globe(7.0, 50.0); 30];
        let plane = Plane::new(&places, &vec![Vec::new(); 30]).unwrap();
        let area = Area {
            x: 10.0,
            y: 20.0,
            width: 300.0,
            height: 200.0,
        };
        let points = plane.fitted(area);
        for (number, one) in points.iter().enumerate() {
            assert!(
                (area.x..=area.right()).contains(&one.x)
                    && (area.y..=area.bottom()).contains(&one.y)
            );
            for other in &points[number + 1..] {
                assert!((one.x - other.x).hypot(one.y - other.y) > APART / 2.0);
            }
        }
    }
}
